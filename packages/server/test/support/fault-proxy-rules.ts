/**
 * What happens at one place of a stream of bytes: one bit of the byte there is flipped; or everything before it is
 * forwarded, and then the connection is held back until `resume`, closed, or reset. With `cut` both ends are closed.
 */
export interface Rule {
  /** The place is so many bytes after the end of this pattern. Left out: after the first byte of the connection. */
  after?: Buffer | string;
  /** Defaults to 0. */
  skip?: number;
  fault: "flip" | "stall" | "cut" | "reset";
  /** At how many more places; it is counted down. Defaults to 1. */
  times?: number;
}

/** A chunk of which `forwarded` is sent, then `fault` happens, and then `rest` is sent. */
export interface Scanned {
  forwarded: Buffer;
  fault?: Exclude<Rule["fault"], "flip">;
  rest: Buffer;
}

/** Applies rules to the chunks of one connection in turn, wherever these are cut. */
export function scanner(): (chunk: Buffer, rules: readonly Rule[]) => Scanned {
  let position = 0;
  let tail = Buffer.alloc(0);
  const begun = new Set<Rule>();
  let places: { at: number; fault: Rule["fault"] }[] = [];

  function find(chunk: Buffer, rule: Rule): void {
    const { after, skip = 0, fault } = rule;
    const add = (at: number): void => {
      rule.times = (rule.times ?? 1) - 1;
      places.push({ at: at + skip, fault });
    };
    const left = (): boolean => (rule.times ?? 1) > 0;
    if (after === undefined) {
      if (!begun.has(rule) && left()) add(0);
      begun.add(rule);
      return;
    }
    const pattern = Buffer.from(after);
    if (pattern.length === 0) throw new Error("a rule needs bytes to look for");
    const known = tail.subarray(Math.max(0, tail.length - pattern.length + 1));
    const seen = Buffer.concat([known, chunk]);
    for (let at = seen.indexOf(pattern); at !== -1 && left(); at = seen.indexOf(pattern, at + 1))
      add(position - known.length + at + pattern.length);
  }

  return (chunk, rules) => {
    for (const rule of rules) find(chunk, rule);
    const end = position + chunk.length;
    const here = places.filter(({ at }) => at < end).toSorted((one, other) => one.at - other.at);
    places = places.filter(({ at }) => at >= end);
    const bytes = Buffer.from(chunk);
    for (const { at, fault } of here)
      if (fault === "flip" && at >= position) bytes[at - position] = (bytes[at - position] ?? 0) ^ 1;
    const stop = here.find(({ fault }) => fault !== "flip");
    const split = stop === undefined ? bytes.length : Math.max(0, stop.at - position);
    const longest = Math.max(0, ...rules.map(({ after = "" }) => Buffer.byteLength(after)));
    tail = Buffer.concat([tail, chunk]).subarray(-Math.max(1, longest));
    position = end;
    return {
      forwarded: bytes.subarray(0, split),
      ...(stop !== undefined && { fault: stop.fault as Exclude<Rule["fault"], "flip"> }),
      rest: bytes.subarray(split),
    };
  };
}
