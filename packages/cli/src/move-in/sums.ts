// Sums of files as Subresource Integrity writes them: `sha512-<base64>`.
import { createHash } from "node:crypto";

// From the strongest on.
const ALGORITHMS = { sha512: 64, sha256: 32, sha1: 20 } as const;
type Algorithm = keyof typeof ALGORITHMS;
const SUM = /^(sha512|sha256|sha1)-([A-Za-z0-9+/]{20,88}={0,2})$/;
const MAX_CHARS = 4_096;

/** Whether a text is one sum. */
export function isSum(text: unknown): text is string {
  const [, algorithm, base64] = typeof text === "string" ? (SUM.exec(text) ?? []) : [];
  return base64 !== undefined && Buffer.from(base64, "base64").length === ALGORITHMS[algorithm as Algorithm];
}

/** The sums that `dist` of a manifest of npm says, the strongest first. */
export function sumsIn({ integrity, shasum }: Record<string, unknown>): string[] {
  const said = typeof integrity === "string" && integrity.length <= MAX_CHARS ? integrity.split(/\s+/) : [];
  const sha1 = sumOfHex("sha1", shasum) ?? [];
  return inStrength([...said.filter(isSum), ...[sha1].flat()]);
}

/** Sums without those that are there twice, the strongest first. */
export function inStrength(sums: readonly string[]): string[] {
  const strength = (sum: string): number => Object.keys(ALGORITHMS).indexOf(sum.slice(0, sum.indexOf("-")));
  return [...new Set(sums)].toSorted((one, other) => strength(one) - strength(other));
}

/** Whether sums say the same as far as they can be compared; undefined when none of one kind are there. */
export function areSame(ours: readonly string[], theirs: readonly string[]): boolean | undefined {
  for (const algorithm of Object.keys(ALGORITHMS)) {
    const [one, other] = [ours, theirs].map((sums) => sums.filter((sum) => sum.startsWith(`${algorithm}-`)));
    if (one?.[0] !== undefined && other?.[0] !== undefined) return other.includes(one[0]);
  }
  return undefined;
}

/** Whether the bytes have every one of the sums. */
export function haveSums(chunks: readonly Uint8Array[], sums: readonly string[]): boolean {
  return sums.every((sum) => {
    const hash = createHash(sum.slice(0, sum.indexOf("-")));
    for (const chunk of chunks) hash.update(chunk);
    return sum === `${sum.slice(0, sum.indexOf("-"))}-${hash.digest("base64")}`;
  });
}

/** The sum that a text in hexadecimal says; undefined for what is none, or of another algorithm. */
export function sumOfHex(algorithm: string, hex: unknown): string | undefined {
  const length = Object.hasOwn(ALGORITHMS, algorithm) ? ALGORITHMS[algorithm as Algorithm] * 2 : 0;
  const isHex = typeof hex === "string" && hex.length === length && /^[0-9a-f]+$/i.test(hex);
  return isHex ? ofHex(algorithm as Algorithm, hex) : undefined;
}

/** A sum in hexadecimal. */
export function hexOf(sum: string): string {
  return Buffer.from(sum.slice(sum.indexOf("-") + 1), "base64").toString("hex");
}

function ofHex(algorithm: Algorithm, hex: string): string {
  return `${algorithm}-${Buffer.from(hex, "hex").toString("base64")}`;
}
