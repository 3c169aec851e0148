import { Code, MoorageError } from "@moorage/kernel/errors";
import { compilePattern, isCompiled } from "@moorage/kernel/lib/patterns";
import { createTurns } from "@moorage/kernel/lib/turns";
import { createWorkBudget } from "@moorage/kernel/lib/work-budget";

/**
 * Whether a text matches a pattern. Throws RESOURCE_EXHAUSTED when the request or the pattern's organization has no
 * budget left.
 */
export type PatternMatcher = (pattern: string, text: string) => Promise<boolean>;

/**
 * The matchers of one exchange. `isSigned`: whether the issuer's signature was verified. Texts of unsigned tokens have
 * a budget of their own, so that nobody but those who hold a token of the issuer can use up that of signed ones.
 */
export type RequestPatterns = (organization: string, isSigned: boolean) => PatternMatcher;

// In steps, of which a slow pattern takes about ten million in a second of processor time. Usual patterns of an
// identity cost some thousands.
const MAX_REQUEST_COST = 5_000_000;
const ORGANIZATION_RATE = { perSecond: 2_000_000, burst: 10_000_000 };
const MAX_ORGANIZATIONS = 10_000;
// To compile a pattern takes about as long as to match a text of so many characters.
const COMPILE_LENGTH = 500;

/** Bounds what the patterns of identities cost: for each exchange, and for each organization over time. */
export function createPatternBudgets(): () => RequestPatterns {
  const organizations = createWorkBudget(ORGANIZATION_RATE, 2 * MAX_ORGANIZATIONS);
  return () => {
    const spent = new Map<string, number>();
    const turn = createTurns();
    return (organization, isSigned) => async (pattern, text) => {
      const key = `${isSigned ? "signed" : "unsigned"} ${organization}`;
      const waitMs = organizations.waitMs(key);
      if (waitMs > 0) throw exhausted("the organization's patterns have cost too much lately", waitMs);
      const compileCost = isCompiled(pattern) ? 0 : COMPILE_LENGTH;
      const compiled = compilePattern(pattern);
      const cost = compiled.costOf(text) + compileCost * compiled.steps;
      const total = (spent.get(organization) ?? 0) + cost;
      if (total > MAX_REQUEST_COST) throw exhausted("the token's claims are too long for the identity's patterns");
      spent.set(organization, total);
      organizations.spend(key, cost);
      const matches = compiled.matches(text);
      await turn();
      return matches;
    };
  };
}

function exhausted(why: string, retryAfterMs?: number): MoorageError {
  return new MoorageError(Code.ResourceExhausted, `Resource exhausted: ${why}`, {
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}
