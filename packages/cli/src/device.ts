// A sign-in without a browser on this machine: the person enters a code on another device. Source: RFC 8628.
import { setTimeout as sleep } from "node:timers/promises";
import { CLIENT } from "./loopback.ts";
import { type Endpoints, formRequest, tokenRequest, type Tokens } from "./oauth.ts";
import { plain } from "./printable.ts";

const GRANT = "urn:ietf:params:oauth:grant-type:device_code";
// Added to the interval after slow_down. Source: RFC 8628 §3.5.
const SLOWER_MS = 5_000;

/**
 * Waits until the person has approved the sign-in. `show` gets the page to open and the code to enter there. Throws an
 * Error that says why there are no tokens.
 */
export async function signInByDevice(
  { device, token }: Endpoints,
  identityProvider: string,
  show: (url: string, code: string) => void,
  timeoutMs: number,
): Promise<Tokens> {
  const codes = await formRequest(device, {
    client_id: CLIENT,
    ...(identityProvider !== "" && { identity_provider: identityProvider }),
  });
  const {
    device_code: deviceCode,
    user_code: userCode,
    verification_uri: page,
    interval,
    error_description: description,
  } = codes;
  if (typeof deviceCode !== "string" || typeof userCode !== "string" || typeof page !== "string")
    throw new Error(`the sign-in failed: ${plain(String(description))}`);
  show(plain(page), plain(userCode));
  const endMs = performance.now() + timeoutMs;
  for (let everyMs = Math.max(1, Number(interval) || 5) * 1000; performance.now() + everyMs < endMs;) {
    await sleep(everyMs);
    const answer = await tokenRequest(token, { grant_type: GRANT, device_code: deviceCode, client_id: CLIENT });
    if ("tokens" in answer) return answer.tokens;
    if (answer.error === "slow_down") everyMs += SLOWER_MS;
    else if (answer.error !== "authorization_pending")
      throw new Error(`the sign-in failed: ${plain(answer.description)}`);
  }
  throw new Error(`nobody signed in within ${timeoutMs / 60_000} minutes`);
}
