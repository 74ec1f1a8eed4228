# The package for NVIDIA GPUs: built with the set-up of ./dev, run beside torch.
#   docker build -f docker/cuda.Dockerfile -t evoformer:cuda .
#   docker run --gpus all evoformer:cuda python -m evoformer.bench
FROM debian:bookworm AS build
# The archive of a release has one version of a package.
# hadolint ignore=DL3008
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates bash git && \
    echo 'deb http://deb.debian.org/debian-security bookworm-security main' > /etc/apt/sources.list.d/security.list
WORKDIR /src
COPY . .
RUN ./dev wheel

FROM nvidia/cuda:13.0.1-base-ubuntu24.04
# hadolint ignore=DL3008
RUN apt-get update && apt-get install -y --no-install-recommends python3 python3-venv g++ python3-dev && \
    rm -rf /var/lib/apt/lists/* && python3 -m venv /opt/evoformer
ENV PATH=/opt/evoformer/bin:$PATH
COPY --from=build /src/dist/*manylinux*.whl /tmp/
RUN pip install --no-cache-dir torch==2.11.0 tqdm==4.67.1 matplotlib==3.10.7 /tmp/*.whl && rm /tmp/*.whl
