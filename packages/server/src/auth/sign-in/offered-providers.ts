import { type Provider, providersIn } from "../../iam/index.ts";
import type { CallData } from "../../core/call.ts";
import type { Database } from "../../store/index.ts";
import { OAuthError } from "../http/oauth.ts";
import type { Guesses } from "./guess-limit.ts";

export interface OfferDeps {
  reader: Database;
  /** Counts names of organizations that found nothing. */
  names: Guesses;
}

/** A provider to choose. */
export type Offered = Pick<Provider, "uid" | "name">;

/**
 * The identity providers of an organization, or of a group by its path, for a person who is to choose one. It needs no
 * token, so the caller must know the name: a name that is not there is answered like one without providers. Throws an
 * OAuthError after some of those.
 */
export async function offeredProviders(
  { reader, names }: OfferDeps,
  path: string,
  { remoteAddress, nowMs }: CallData,
): Promise<Offered[]> {
  if (!names.mayGuess(remoteAddress, nowMs))
    throw new OAuthError(429, "slow_down", "too many wrong names were asked for: try again in ten minutes");
  const providers = await providersIn(reader, path);
  if (providers.length === 0) names.failed(remoteAddress, nowMs);
  return providers;
}
