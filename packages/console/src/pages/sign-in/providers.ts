import { errorOf } from "../../api/errors.ts";
import { readStored, store } from "../../lib/browser-storage.ts";
import { isOwnPath } from "./go.ts";

/** An identity provider through which people of an organization sign in. */
export interface Provider {
  uid: string;
  name: string;
}

/** The name under which the browser keeps the organization of the last sign-in. */
export const LAST_ORGANIZATION = "organization";
/** The name under which it keeps the uid of the provider. */
const LAST_PROVIDER = "provider";
const TIMEOUT_MS = 30_000;

/** The providers of an organization, by its name, or of a group, by its path. */
export async function providersOf(organization: string): Promise<readonly Provider[]> {
  const response = await fetch(`/oauth/providers?organization=${encodeURIComponent(organization)}`, {
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (!response.ok) throw await errorOf(response);
  const { identity_providers: found } = (await response.json()) as { identity_providers: readonly Provider[] };
  return found;
}

/** The one through which this browser signed in last comes first. */
export function lastFirst(providers: readonly Provider[]): readonly Provider[] {
  const last = readStored(LAST_PROVIDER);
  return providers.toSorted((one, other) => Number(other.uid === last) - Number(one.uid === last));
}

/** Leaves the page for the provider, and remembers it. `to`: the page to go to after the sign-in. */
export function signInThrough({ uid }: Provider, organization: string, to: string | undefined): void {
  store(LAST_ORGANIZATION, organization);
  store(LAST_PROVIDER, uid);
  const path = isOwnPath(to) ? to : "/";
  window.location.assign(`/sign-in?identity_provider=${encodeURIComponent(uid)}&return_to=${encodeURIComponent(path)}`);
}
