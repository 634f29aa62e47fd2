#!/usr/bin/env bash
# Puts a gate's comment on a pull request of GitHub, in place of the same gate's last one.
# Needs gh, GH_TOKEN and GITHUB_REPOSITORY.
set -euo pipefail

[ $# -eq 2 ] || {
	echo "usage: comment.sh NUMBER comment.md" >&2
	exit 2
}
number=$1 file=$2
marker=$(head -n 1 "$file")
comments=repos/$GITHUB_REPOSITORY/issues/$number/comments
# A token of an app has no user; its comments are a bot's.
me=$(gh api user --jq .login 2>/dev/null) || me=
ids=$(MARKER=$marker ME=$me gh api --paginate "$comments" --jq '.[] | select((.user.type == "Bot" or .user.login == env.ME) and (.body | startswith(env.MARKER))) | .id')
id=${ids%%$'\n'*}
if [ -n "$id" ]; then
	gh api --silent --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$id" -F "body=@$file"
else
	gh api --silent --method POST "$comments" -F "body=@$file"
fi
