import { hashOf } from "./secrets.ts";

// What the page of choice adds to the request that it was shown for.
const ADDED = new Set(["organization", "identity_provider", "consent"]);

/**
 * The proof that this browser was shown the page that asks about this request of a client: whoever sends somebody a
 * link does not know the browser's cookie, from which the proof is derived. A client of others is never sent a code
 * without it, also where the person is signed in at the identity provider and would see nothing of the sign-in.
 */
export function consentProof(browser: string, parameters: URLSearchParams): string {
  const asked = [...parameters]
    .filter(([name]) => !ADDED.has(name))
    .toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return hashOf(`consent ${browser} ${JSON.stringify(asked)}`);
}
