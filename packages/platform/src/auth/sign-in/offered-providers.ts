import type { Config } from "@moorage/kernel/config";
import type { CallData } from "@moorage/kernel/core/call";
import type { Database } from "@moorage/kernel/store";
import { type Provider, providersIn } from "../../iam/index.ts";
import { OAuthError } from "../http/oauth.ts";
import type { Guesses } from "./guess-limit.ts";

export interface OfferDeps {
  config: Pick<Config, "localAccounts">;
  reader: Database;
  /** Counts names of organizations that found nothing. */
  names: Guesses;
}

/** A provider to choose. */
export interface Offered extends Pick<Provider, "uid" | "name"> {
  /** Set for the accounts of this installation. */
  accounts?: true;
}

/**
 * The identity providers of an organization, or of a group by its path, for a person who is to choose one. It needs no
 * token, so the caller must know the name: a name that is not there is answered like one without providers. Throws an
 * OAuthError after some of those.
 */
export async function offeredProviders(
  { config, reader, names }: OfferDeps,
  path: string,
  { remoteAddress, nowMs }: CallData,
): Promise<Offered[]> {
  if (!names.mayGuess(remoteAddress, nowMs))
    throw new OAuthError(429, "slow_down", "too many wrong names were asked for: try again in ten minutes");
  const found = await providersIn(reader, path);
  const providers = found
    .filter(({ isAccounts }) => !isAccounts || config.localAccounts !== "off")
    .map(({ uid, name, isAccounts }) => ({ uid, name, ...(isAccounts && { accounts: true as const }) }));
  if (providers.length === 0) names.failed(remoteAddress, nowMs);
  return providers;
}
