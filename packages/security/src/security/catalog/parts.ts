/** The most items of a part, which one command writes. */
const PART_ROWS = 500;
const PART_BYTES = 1024 * 1024;

/**
 * A list on its way between processes: each part is JSON of at most PART_ROWS items and about a MiB. Whoever takes it
 * parses one part at a time, and so is never long at it.
 */
export type Parts = readonly Uint8Array[];

/** The list in parts. */
export function partsOf(items: readonly object[]): Uint8Array[] {
  const parts: Uint8Array[] = [];
  let texts: string[] = [];
  let length = 0;
  const end = (): void => {
    if (texts.length > 0) parts.push(Buffer.from(`[${texts.join(",")}]`));
    texts = [];
    length = 0;
  };
  for (const item of items) {
    const text = JSON.stringify(item);
    texts.push(text);
    length += text.length;
    if (texts.length === PART_ROWS || length >= PART_BYTES) end();
  }
  end();
  return parts;
}

/** The items of a part. */
export function itemsOf<Item>(part: Uint8Array): Item[] {
  return JSON.parse(Buffer.from(part.buffer, part.byteOffset, part.byteLength).toString("utf8")) as Item[];
}
