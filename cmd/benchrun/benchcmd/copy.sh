# The results of a bucket's Job lie on the pod's own disk. This script copies them from and to the
# bucket, and deletes nothing there. $0 says what it does.
#
# A run.json that says that a shard is complete must not be there before the shard's other files,
# and the shard may end while it is copied. So run.json is set aside first and goes last.
# Temporary files, whose names begin with a dot, stay.

# keep copies folder $1 to $2, with run.json by way of folder $3.
keep() {
  rclone copy --include run.json "$1" "$3" &&
    rclone copy --exclude '.*' --exclude run.json "$1" "$2" &&
    { [ ! -d "$3" ] || rclone copy --include run.json "$3" "$2"; }
}

case $0 in
fetch) # copies $1 to $2. Exit code 3 of rclone: $1 is not there, nothing was stored yet.
  rclone copy "$1" "$2"
  code=$?
  [ $code -ne 3 ] || exit 0
  exit $code
  ;;
store) # copies $2 to $3 every half minute, and once more at the end; $1 is for run.json
  # A trap may run within keep, whose arguments are others, so those of the script have names.
  aside=$1 from=$2 to=$3
  trap '[ ! -d "$from" ] || keep "$from" "$to" "$aside"; exit 0' TERM
  while :; do
    sleep 30 & wait $!
    [ ! -d "$from" ] || keep "$from" "$to" "$aside"
  done
  ;;
merge) # copies $2, the shards, to $3 every half minute, and at the end $4, the merged, to $5
  aside=$1 from=$2 to=$3 merged=$4 store=$5
  trap '[ ! -d "$merged" ] || keep "$merged" "$store" "$aside/merged"; exit 0' TERM
  while :; do
    keep "$from" "$to" "$aside/shards"
    sleep 30 & wait $!
  done
  ;;
esac
