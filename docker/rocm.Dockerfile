# The package for AMD GPUs: built with the set-up of ./dev, run beside torch.
#   docker build -f docker/rocm.Dockerfile -t evoformer:rocm .
#   docker run --device=/dev/kfd --device=/dev/dri evoformer:rocm python -m evoformer.bench
FROM debian:bookworm AS build
# The archive of a release has one version of a package.
# hadolint ignore=DL3008
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates bash git && \
    echo 'deb http://deb.debian.org/debian-security bookworm-security main' > /etc/apt/sources.list.d/security.list
WORKDIR /src
COPY . .
RUN ./dev wheel

FROM rocm/pytorch:rocm7.1_ubuntu24.04_py3.12_pytorch_release_2.8.0
COPY --from=build /src/dist/*manylinux*.whl /tmp/
RUN pip install --no-cache-dir tqdm==4.67.1 matplotlib==3.10.7 /tmp/*.whl && rm /tmp/*.whl
