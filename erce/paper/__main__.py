"""`python -m erce.paper` prints the paper's tables made from its own seeds, and what tests say of them."""

from erce.paper.regenerate import regenerate, regenerated_lines
from erce.paper.significance import sentences
from erce.paper.tables import citation, tables


def main() -> None:
    """Print every per-seed row as our statistics make it, how many agree, and the sentences."""
    print(citation())
    for table in tables():
        if table.is_per_seed:
            print(
                f"\n{table.label}: {table.task}, {table.decoding}; λ, seeds, mean ± over seeds (divided by n)"
            )
            for row in regenerate():
                if row.table is table:
                    print(f"  {row.remade}")
    print("\nFrom the seeds to the printed tables:")
    for line in regenerated_lines():
        print(f"  · {line}")
    print("\nWhat tests over seeds say of the tables:")
    for line in sentences():
        print(f"  · {line}")


if __name__ == "__main__":
    main()
