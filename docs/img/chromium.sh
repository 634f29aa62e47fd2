# Sourced by the scripts beside it: shot PAGE.html OUT.png WIDTH HEIGHT takes a screenshot of a
# page. It needs Debian's chromium.
shot() {
	local profile
	profile=$(mktemp -d)
	chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync \
		--hide-scrollbars --user-data-dir="$profile" --window-size="$3,$4" --screenshot="$profile/out.png" "file://$(realpath "$1")" 2>/dev/null && mv "$profile/out.png" "$2" ||
		{ echo "chromium could not draw $1" >&2; rm -rf "$profile"; return 1; }
	rm -rf "$profile"
}
