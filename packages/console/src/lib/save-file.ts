const KEPT_MS = 60_000;

/** Has the browser save a file of these parts. */
export function saveFile(name: string, mediaType: string, parts: readonly string[]): void {
  const url = URL.createObjectURL(new Blob([...parts], { type: mediaType }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The download begins after this.
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS);
}
