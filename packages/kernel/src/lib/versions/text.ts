/** Negative, zero or positive, as for sorting. */
export type Sign = number;

/** Compares two texts by their UTF-16 code units. */
export function compareText(a: string, b: string): Sign {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Compares two numbers that are written in decimal digits, of any length. An empty text is zero. */
export function compareDigits(a: string, b: string): Sign {
  const [one, two] = [a, b].map(withoutZeros) as [string, string];
  return one.length - two.length || compareText(one, two);
}

function withoutZeros(digits: string): string {
  let start = 0;
  while (digits[start] === "0") start += 1;
  return digits.slice(start);
}

/** Whether the code unit is a decimal digit of ASCII; false for NaN, which is what follows the end of a text. */
export function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}

/** Whether the code unit is a letter of ASCII. */
export function isLetter(unit: number): boolean {
  return (unit >= 0x41 && unit <= 0x5a) || (unit >= 0x61 && unit <= 0x7a);
}

/** Where the run of code units that begins at `start` and that `belongs` accepts ends. */
export function endOfRun(text: string, start: number, belongs: (unit: number) => boolean): number {
  let end = start;
  while (end < text.length && belongs(text.charCodeAt(end))) end += 1;
  return end;
}

/** The parts of `epoch:version-revision`. Without an epoch that is empty; without a hyphen there is no revision. */
export function evrOf(text: string): { epoch: string; version: string; revision: string | undefined } {
  const colon = endOfRun(text, 0, isDigit);
  const hasEpoch = colon > 0 && text[colon] === ":";
  const rest = hasEpoch ? text.slice(colon + 1) : text;
  const hyphen = rest.lastIndexOf("-");
  return {
    epoch: hasEpoch ? text.slice(0, colon) : "",
    version: hyphen < 0 ? rest : rest.slice(0, hyphen),
    revision: hyphen < 0 ? undefined : rest.slice(hyphen + 1),
  };
}

/** Compares two lists part by part. Where one has ended, `end` stands for its parts. */
export function compareLists<Part>(
  a: readonly Part[],
  b: readonly Part[],
  end: Part,
  compare: (a: Part, b: Part) => Sign,
): Sign {
  for (let at = 0; at < Math.max(a.length, b.length); at += 1) {
    const sign = compare(a[at] ?? end, b[at] ?? end);
    if (sign !== 0) return sign;
  }
  return 0;
}

/**
 * An order for texts that are no versions: runs of digits compare as numbers and stand before other characters, which
 * compare by their code units.
 */
export function compareNaturally(a: string, b: string): Sign {
  return compareLists(runsOf(a), runsOf(b), "", (one, two) => {
    const [isNumber, other] = [isDigit(one.charCodeAt(0)), isDigit(two.charCodeAt(0))];
    return isNumber && other ? compareDigits(one, two) : compareText(one, two);
  });
}

function runsOf(text: string): string[] {
  return text.match(/[0-9]+|[^0-9]+/g) ?? [];
}
