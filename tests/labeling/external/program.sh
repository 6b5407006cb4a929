#!/bin/sh
# Every line of a step that holds "right" is right; the reply is written by hand, without any library.
read -r hello
echo '{"id": 0, "result": {"name": "by-hand", "version": "1", "methods": ["verify"]}}'
while read -r line; do
  id=$(printf '%s' "$line" | sed 's/.*"id": \([0-9]*\), "method": "verify".*/\1/')
  case $line in
    *'"no reply"'*) echo 'hello there' ;;
    *'"right"'*) echo "{\"id\": $id, \"result\": [\"RIGHT\"]}" ;;
    *) echo "{\"id\": $id, \"result\": [{\"verdict\": \"WRONG\", \"reason\": \"it does not say so\"}]}" ;;
  esac
done
