/**
 * The version of a Go module or of Go itself as records write it: v1.2.3 is 1.2.3, go1.22 is 1.22.0, go1.22rc1 is
 * 1.22.0-rc.1, and what the toolchain says behind a space, such as X:boringcrypto, is left out.
 */
export function goVersion(version: string): string {
  const [, numbers = "", kind, number] =
    /^go([0-9]+(?:\.[0-9]+)*)(?:(rc|beta)([0-9]+))?(?:[ -].*)?$/.exec(version) ?? [];
  if (numbers === "") return version.replace(/^v(?=[0-9])/, "");
  const three = [...numbers.split("."), "0", "0"].slice(0, 3).join(".");
  return kind === undefined ? three : `${three}-${kind}.${number}`;
}
