# The study and the sandbox for programs on a CPU, as an ordinary user:
#   docker build -t erce .
#   docker run --rm -v "$PWD/runs:/study/runs" erce demo
# Docker's default profile leaves the sandbox the tier "landlock" (docs/sandbox.md); `docker run --rm erce doctor` says which.
FROM python:3.11-slim
RUN useradd --create-home --uid 1000 erce && mkdir -p /study/runs && chown -R erce /study
COPY pyproject.toml constraints.txt README.md LICENSE /src/
COPY erce /src/erce
COPY recipes /src/recipes
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
RUN pip install --no-cache-dir --extra-index-url "$TORCH_INDEX" -c /src/constraints.txt "/src[study]"
USER erce
WORKDIR /study
VOLUME /study/runs
ENTRYPOINT ["erce"]
CMD ["--help"]
