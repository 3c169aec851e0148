/** A line without its end, and its number from 1 on. `text` is undefined when it is longer than allowed. */
export interface NumberedLine {
  number: number;
  text: string | undefined;
}

/** The lines of a text in UTF-8, in bounded memory. `maxBytes`: the longest line that is kept. */
export async function* numberedLines(bytes: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<NumberedLine> {
  let pieces: Buffer[] = [];
  let size = 0;
  let number = 0;
  const take = (piece: Buffer): void => {
    size += piece.length;
    if (size <= maxBytes) pieces.push(piece);
    else pieces = [];
  };
  const line = (): NumberedLine => {
    number += 1;
    const text = size > maxBytes ? undefined : Buffer.concat(pieces).toString("utf8").replace(/\r$/, "");
    pieces = [];
    size = 0;
    return { number, text };
  };
  for await (const chunk of bytes) {
    let from = 0;
    for (let cut = chunk.indexOf(10); cut >= 0; cut = chunk.indexOf(10, from)) {
      take(chunk.subarray(from, cut));
      yield line();
      from = cut + 1;
    }
    // A copy, so that the whole chunk is not kept for a piece of it.
    if (from < chunk.length) take(Buffer.from(chunk.subarray(from)));
  }
  if (size > 0) yield line();
}
