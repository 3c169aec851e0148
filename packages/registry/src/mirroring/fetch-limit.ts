import { Code, MoorageError } from "@moorage/kernel/errors";

/** Runs work for an organization. Throws UNAVAILABLE when too much is under way, of the organization or of all. */
export type FetchLimit = <T>(organization: string, work: () => Promise<T>) => Promise<T>;

const MAX_UNDER_WAY = 64;
// The most of one organization: its slow sources do not hold up other organizations.
const MAX_OF_ORGANIZATION = 24;

export function createFetchLimit(): FetchLimit {
  const underWay = new Map<string, number>();
  return async (organization, work) => {
    const ofIt = underWay.get(organization) ?? 0;
    const all = [...underWay.values()].reduce((sum, count) => sum + count, 0);
    if (ofIt >= MAX_OF_ORGANIZATION || all >= MAX_UNDER_WAY)
      throw new MoorageError(Code.Unavailable, "Unavailable: too much is being fetched from sources", {
        retryAfterMs: 1_000,
      });
    underWay.set(organization, ofIt + 1);
    try {
      return await work();
    } finally {
      const left = (underWay.get(organization) ?? 1) - 1;
      if (left > 0) underWay.set(organization, left);
      else underWay.delete(organization);
    }
  };
}
