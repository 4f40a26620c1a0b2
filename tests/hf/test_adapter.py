"""An adapter's two files, whole or not: one sentence before PEFT sees them."""

import numpy as np
import pytest
from safetensors.numpy import save_file
from toys import training as toy

from erce.errors import DamagedError
from erce.files import write_json
from erce.hf.adapter import CONFIGURATION, WEIGHTS, check_adapter
from erce.hf.models import adapted


@pytest.fixture
def adapter(tmp_path):
    save_file({"weight": np.ones(100)}, tmp_path / WEIGHTS)
    write_json(tmp_path / CONFIGURATION, {"peft_type": "LORA"})
    return tmp_path


def test_a_whole_adapter_passes(adapter):
    check_adapter(adapter)


@pytest.mark.parametrize("name", [WEIGHTS, CONFIGURATION])
@pytest.mark.parametrize("content", [b"", bytes(200), b"[1]\n", b"{}\n", None], ids=str)
def test_a_torn_or_missing_file_is_named_with_the_way_out(adapter, name, content):
    (adapter / name).unlink() if content is None else (adapter / name).write_bytes(content)
    with pytest.raises(DamagedError, match=rf"{name} is (missing|damaged); `erce run` .* makes it again"):
        check_adapter(adapter)


def test_weights_that_were_cut_off_are_not_loaded(adapter):
    content = (adapter / WEIGHTS).read_bytes()
    (adapter / WEIGHTS).write_bytes(content[:-1])
    with pytest.raises(DamagedError, match=f"{WEIGHTS} is damaged"), adapted(toy.model(), adapter):
        pass
