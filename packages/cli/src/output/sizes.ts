const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/** A number of bytes as readable text, such as `1.5 GiB`. */
export function bytesText(bytes: number): string {
  const power = bytes < 1024 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  return `${power === 0 ? bytes : (bytes / 1024 ** power).toFixed(1)} ${UNITS[power] ?? "B"}`;
}

/** How much a garbage collection removes, such as `0 tags, 0 manifests, 1 blob: 2.0 KiB (2048 bytes)`. */
export function garbageText(of: Readonly<Record<"tags" | "manifests" | "blobs" | "bytes", number>>): string {
  const counts = (["tag", "manifest", "blob"] as const).map((what) => {
    const count = of[`${what}s`];
    return `${count} ${what}${count === 1 ? "" : "s"}`;
  });
  return `${counts.join(", ")}: ${bytesText(of.bytes)} (${of.bytes} bytes)`;
}
