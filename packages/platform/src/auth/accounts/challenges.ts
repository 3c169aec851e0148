import type { CallData } from "@moorage/kernel/core/call";
import { networkOf } from "@moorage/kernel/lib/network";
import { OAuthError } from "../http/oauth.ts";
import { openSignIn, takeSignIn } from "../sign-in/flow-commands.ts";
import { requireCapacity } from "../sign-in/flow.ts";
import { hashOf, newSecret } from "../sign-in/secrets.ts";
import { type AccountDeps, tooMany } from "./deps.ts";

// Challenges for passkeys are sign-ins under way, like those at identity providers: one is answered once, within five
// minutes, in the browser that it was made for.

const TTL_MS = 300_000;

/** Makes a challenge. `purpose`: what its answer is for, such as `sign-in`. Throws RESOURCE_EXHAUSTED at the limit. */
export async function makeChallenge(
  { reader, writer, secrets }: AccountDeps,
  browser: string,
  purpose: string,
  call: CallData,
): Promise<string> {
  try {
    await requireCapacity(reader, call);
  } catch (error) {
    throw error instanceof OAuthError ? tooMany("sign-ins were begun from your network") : error;
  }
  const challenge = newSecret();
  const hash = rowOf(challenge);
  await writer.write(openSignIn, call, {
    hash,
    browser: hashOf(browser),
    network: networkOf(call.remoteAddress),
    content: secrets.seal(purpose, placeOf(hash)),
    expireTimeMs: call.nowMs + TTL_MS,
  });
  return challenge;
}

/** Uses the challenge up. False when it was not made for this purpose and browser, or not within five minutes. */
export async function takeChallenge(
  { writer, secrets }: AccountDeps,
  challenge: string,
  browser: string | undefined,
  purpose: string,
  call: CallData,
): Promise<boolean> {
  if (browser === undefined) return false;
  const hash = rowOf(challenge);
  const content = await writer.write(takeSignIn, call, { hash, browser: hashOf(browser) });
  return content !== undefined && secrets.open(content, placeOf(hash)) === purpose;
}

// No state of a sign-in at a provider has this hash.
function rowOf(challenge: string): string {
  return hashOf(`passkey ${challenge}`);
}

function placeOf(hash: string): string {
  return `passkey challenge:${hash}`;
}
