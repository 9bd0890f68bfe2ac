#!/bin/busybox sh
# Serves the graph, and starts the server again when it goes on with a query whose connection was closed: the server
# notices a closed connection only when it sends the next row, and its own --timeout-s keeps a thread for each query
# until that time is over, however short the query was.
PORT=${PORT:-7878}
GRACE=${GRACE:-10}
HEX=$(/bin/busybox printf '%04X' "$PORT")

# The connections that clients have closed and the server has not: CLOSE_WAIT is 08.
forsaken() {
  /bin/busybox cat /proc/net/tcp /proc/net/tcp6 2>/dev/null |
    /bin/busybox awk -v port=":$HEX" 'substr($2, length($2) - 4) == port && $4 == "08" { print $3 }'
}

stop() {
  kill -TERM "$server"
  wait "$server"
  exit 0
}
trap stop TERM INT

while :; do
  "${OXIGRAPH:-/usr/local/bin/oxigraph}" "$@" &
  server=$!
  before=""
  while kill -0 "$server" 2>/dev/null; do
    # In the background: a signal does not wait for it.
    /bin/busybox sleep "$GRACE" &
    wait $!
    now=$(forsaken)
    for peer in $now; do
      case " $before " in
        *" $peer "*)
          echo "The server goes on with a query that was given up; it is started again." >&2
          kill -KILL "$server"
          break
          ;;
      esac
    done
    before=$(echo $now)
  done
  wait "$server"
  status=$?
  # Ended by itself: the container ends with it, and is started again.
  [ "$status" -eq 137 ] || exit "$status"
done
