#!/bin/sh
# Writes the secrets that docker-compose.yml needs to a file that only its owner may read.
# Usage: deploy/make-secrets.sh [FILE]     (default: .env beside docker-compose.yml; never overwrites one)
set -eu
file=${1:-$(dirname "$0")/../.env}

random() { # hexadecimal, so that it fits into URLs as it is; $1 bytes
  if command -v openssl >/dev/null 2>&1; then openssl rand -hex "$1"
  else od -An -v -N "$1" -tx1 /dev/urandom | tr -d ' \n'; echo
  fi
}

umask 077
made=$(mktemp "$file.XXXXXX")
trap 'rm -f "$made"' EXIT
{
  echo "# Made by deploy/make-secrets.sh. Keep a copy where backups are kept: without JWT_SECRET all tokens end."
  for name in JWT_SECRET POSTGRES_PASSWORD REDIS_PASSWORD S3_SECRET_KEY GARAGE_RPC_SECRET; do
    value=$(random 32)
    [ ${#value} -eq 64 ] || { echo "make-secrets: no random bytes to be had" >&2; exit 1; }
    echo "$name=$value"
  done
  echo "S3_ACCESS_KEY=GK$(random 16)"
  echo "#BASE_URL=https://registry.example.org"
  echo "#ARK_NAAN=99999"
  echo "#REGISTRATION=admin"
} > "$made"
# A link fails when the name is taken: of two at a time one wins, and nothing is overwritten.
if ! ln "$made" "$file" 2>/dev/null; then
  echo "make-secrets: $file is there already (or its folder cannot be written); nothing was changed" >&2
  exit 1
fi
echo "wrote $file"
