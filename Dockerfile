# One image for web, worker and beat. Built with:  docker build -t twinblind .
FROM python:3.11-slim-bookworm

ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 TWINBLIND_DATA=/data
WORKDIR /app

COPY requirements/runtime.txt requirements/
RUN pip install --no-cache-dir --disable-pip-version-check --require-hashes --only-binary=:all: \
        -r requirements/runtime.txt \
    && useradd --uid 10001 --no-create-home --home-dir /data twinblind \
    && install -d -m 0700 -o twinblind -g twinblind /data

COPY manage.py LICENSE ./
COPY blinding/ blinding/
COPY annotation_app/ annotation_app/
COPY adjudication/ adjudication/
COPY templates/ templates/
COPY static/ static/
RUN python -m compileall -q -j 0 blinding annotation_app adjudication

USER twinblind
VOLUME /data
EXPOSE 8000

CMD ["gunicorn", "annotation_app.wsgi", "--no-control-socket", "--bind", "0.0.0.0:8000", \
     "--workers", "2", "--threads", "4", "--timeout", "120"]
