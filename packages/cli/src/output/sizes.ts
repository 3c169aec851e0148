const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/** A number of bytes as readable text, such as `1.5 GiB`. */
export function bytesText(bytes: number): string {
  const power = bytes < 1024 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  return `${power === 0 ? bytes : (bytes / 1024 ** power).toFixed(1)} ${UNITS[power] ?? "B"}`;
}
