import { FIRST_KIND_OF_NUMBERS, RANK_OF_RELEASE, type Token, tokensOf } from "./maven.ts";
import { numberKey } from "./sort-keys.ts";

const RELEASE = "3";

/**
 * A text for each version whose order, byte by byte, is that of `compareMaven` for versions as projects number them.
 * That order is not transitive, so that no key can have it whole: here a zero before a qualifier means nothing
 * (4.1.0.CR1 is 4.1-CR1, as Maven has it since 3.9), and all that comes before a release stands before all that comes
 * after it.
 */
export function mavenKey(version: string): string {
  const tokens = tokensOf(version);
  const kept: Token[] = [];
  for (const token of tokens) {
    if (token.kind < FIRST_KIND_OF_NUMBERS) while (isZero(kept.at(-1))) kept.pop();
    kept.push(token);
  }
  return kept.map(keyOf).join("") + RELEASE;
}

function isZero(token: Token | undefined): boolean {
  return token !== undefined && token.kind >= FIRST_KIND_OF_NUMBERS && /^0*$/.test(token.value);
}

/** Qualifiers before the release, the release, qualifiers after it, numbers after a hyphen, numbers after a dot. */
function keyOf({ kind, rank, value }: Token): string {
  if (kind >= FIRST_KIND_OF_NUMBERS) return `${kind === FIRST_KIND_OF_NUMBERS ? "6" : "7"}${numberKey(value)}`;
  const place = (rank < RANK_OF_RELEASE ? 1 : 4) + kind;
  return `${place}${rank}${value} `;
}
