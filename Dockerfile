# The service against a PostgreSQL given by LEDGER_DATABASE_URL. Built in two steps, so that the
# image holds the installed packages and neither sources nor build tools.

FROM python:3.13-slim AS build
WORKDIR /src
RUN python -m venv /opt/send-ledger
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY ledger ledger
COPY projections projections
COPY api api
RUN /opt/send-ledger/bin/pip install -c constraints.txt '.[otel]'

FROM python:3.13-slim
# A fixed number: orchestrators check "not root" by number, volumes keep their owner by it.
RUN groupadd --system --gid 10001 ledger \
    && useradd --system --uid 10001 --gid ledger --home-dir /var/lib/send-ledger \
        --shell /usr/sbin/nologin ledger \
    && install --directory --owner=ledger --group=ledger --mode=0700 /var/lib/send-ledger
COPY --from=build /opt/send-ledger /opt/send-ledger
ENV PATH=/opt/send-ledger/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    LEDGER_DATA_DIR=/var/lib/send-ledger
USER 10001:10001
WORKDIR /var/lib/send-ledger
EXPOSE 8080
STOPSIGNAL SIGTERM
ENTRYPOINT ["send-ledger"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8080"]
