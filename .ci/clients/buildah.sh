# As root, with no daemon: its containers share this machine's processes and network, and its images are plain folders.
bh() { timeout 120 "$TOOLS/buildah" "$@"; }

check_buildah() {
  local app="$HOST/$ORG/buildah/app" multi="$HOST/$ORG/buildah/multi" copy="$HOST/$ORG/buildah/copies/multi" base arch container
  # No settings of this machine, and nothing left in its image store.
  printf '[storage]\ndriver = "vfs"\ngraphroot = "%s"\nrunroot = "%s"\n' "$PWD/store" "$PWD/run" >storage.conf
  printf 'unqualified-search-registries = []\n' >registries.conf
  printf '{}' >auth.json
  # Docker's file would be read as well.
  local -x HOME="$WORK/nobody" DOCKER_CONFIG="$WORK/nobody" CONTAINERS_STORAGE_CONF="$PWD/storage.conf" CONTAINERS_REGISTRIES_CONF="$PWD/registries.conf" REGISTRY_AUTH_FILE="$PWD/auth.json" BUILDAH_ISOLATION=chroot
  local plain=--tls-verify=false

  # What buildah needs of this machine, checked without a registry: folders as an image's file system, and a process in
  # them.
  cp -r "$WORK/sample/build1" layout
  if ! { bh from --name probe oci:layout && bh run probe -- /hello; } >probe.log 2>&1; then
    echo "buildah: not run: this machine does not let it build: $(grep -im1 error probe.log)"
    MISSING+=(buildah)
    return
  fi

  base=$(image "$ORG/buildah/base:1.0" 1)
  mkdir context
  echo hello >context/hello.txt
  printf 'FROM %s\nRUN ["/hello"]\nCOPY hello.txt /\n' "$base" >context/Containerfile
  refused "buildah: a log-in with a wrong password is rejected" "invalid username/password" bh login $plain -u any --password-stdin "$HOST" <<<wrong
  does "buildah: a log-in with a platform token succeeds" bh login $plain -u any --password-stdin "$HOST" <<<"$PLATFORM_TOKEN"
  does "buildah: an image is built from a base image in the registry" bh build $plain -t "$app:1.0" context
  says "buildah: the build ran a program of the base image" "Ahoy from build 1"
  does "buildah: the built image is pushed" bh push $plain --digestfile pushed "$app:1.0"
  does "buildah: every manifest and blob of the image is in the registry" whole "$app" "$(<pushed)"
  bh rmi --all --force >/dev/null
  does "buildah: the image is pulled by its digest" bh pull $plain "$app@$(<pushed)"
  same "buildah: the pulled image has the same digest" "$(bh inspect --type image --format '{{.FromImageDigest}}' "$app@$(<pushed)")" "$(<pushed)"
  container=$(bh from $plain --pull-never "$app@$(<pushed)")
  does "buildah: the program in the image runs" bh run "$container" -- /hello
  bh copy "$container" storage.conf /added >/dev/null
  bh config --label org.example.color=green "$container"
  does "buildah: a changed container is committed and pushed in Docker's format" bh commit $plain --format docker "$container" "docker://$app:changed"
  does "buildah: the changed image is pulled" bh pull $plain "$app:changed"
  same "buildah: the pulled image has the change" "$(bh inspect --type image --format '{{index .Docker.Config.Labels "org.example.color"}}' "$app:changed")" green

  printf 'FROM scratch\nCOPY hello.txt /\n' >context/Containerfile
  for arch in amd64 arm64; do does "buildah: an image for $arch is built into a list" bh build $plain --platform "linux/$arch" --manifest list context; done
  does "buildah: the list is pushed with its images" bh manifest push $plain --all --format oci --digestfile list-pushed list "docker://$multi:1.0"
  does "buildah: a manifest list is made from a list in the registry" bh manifest create again
  does "buildah: the manifest list has both images" bh manifest add $plain --all again "docker://$multi:1.0"
  does "buildah: the manifest list is copied to another repository" bh manifest push $plain --all --format oci --digestfile copy-pushed again "docker://$copy:1.0"
  same "buildah: the copy's digest is the same" "$(<copy-pushed)" "$(<list-pushed)"
  copied buildah "$multi" "$copy" "$(<list-pushed)"
  bh rmi --all --force >/dev/null
  for arch in amd64 arm64; do
    does "buildah: the image for $arch is pulled by the list's tag" bh pull $plain --platform "linux/$arch" "$copy:1.0"
    same "buildah: the pulled image has the asked architecture" "$(bh inspect --type image --format '{{.OCIv1.Architecture}}' "$copy:1.0")" "$arch"
  done

  refused "buildah: a missing tag is an error" "manifest unknown" bh pull $plain "$multi:none"
  # buildah would go on to another manifest format if it took the error as one of the manifest, and not of the tag.
  refused "buildah: a push to a tag as of a time is rejected" "^Error: .*read-only and is never pushed$" bh push $plain "$copy:1.0" "docker://$copy:1.0--at--20260101T000000Z"
  image "$PUBLIC/buildah:latest" 1 >/dev/null
  does "buildah: a log-out succeeds" bh logout "$HOST"
  does "buildah: a public image is pulled anonymously" bh pull $plain "$HOST/$PUBLIC/buildah:latest"
  refused "buildah: an anonymous pull of a private image is denied" denied bh pull $plain "$app:1.0"
  refused "buildah: an anonymous push is denied" "to push .* an identity needs a role binding" bh push $plain "$copy:1.0" "docker://$HOST/$PUBLIC/buildah:latest"
  does "buildah: a CI job pushes with its own token" as_job main bh push $plain "$copy:1.0" "docker://$HOST/$ORG/ci-buildah:1.0"
  does "buildah: the commands of docs/clients.md work" document buildah
}
