import { invalidArgument } from "@moorage/kernel/errors";
import { isObject, parseJson } from "@moorage/kernel/lib/json";
import type { AccountDeps } from "./deps.ts";
import { newTotpSecret, totpStep, totpUri } from "./totp.ts";

/** An app that a person sets up. `setUp` is sent back with a code of the app, and says what it was made for. */
export interface SetUp {
  setUp: string;
  /** For typing, in base 32. */
  secret: string;
  /** For a QR code. */
  uri: string;
}

const SET_UP_TTL_MS = 900_000;

/** A new app for the account. `purpose`: who may set it up, such as an identity's uid; the same text confirms it. */
export function offerSetUp(
  { secrets, config }: Pick<AccountDeps, "secrets" | "config">,
  purpose: string,
  name: string,
  nowMs: number,
): SetUp {
  const secret = newTotpSecret();
  const sealed = secrets.seal(JSON.stringify({ secret, untilMs: nowMs + SET_UP_TTL_MS }), placeOf(purpose));
  const issuer = `Moorage ${new URL(config.baseUrl).host}`.replaceAll(":", " ");
  return { setUp: sealed, secret, uri: totpUri(secret, { issuer, name }) };
}

/**
 * The secret of the app, and the time step of the code by which the person shows that it works. Undefined for a wrong
 * code. Throws INVALID_ARGUMENT for a set-up that was made for something else or has ended.
 */
export function confirmSetUp(
  { secrets }: Pick<AccountDeps, "secrets">,
  purpose: string,
  { setUp, code }: { setUp: string; code: string },
  nowMs: number,
): { secret: string; step: number } | undefined {
  const ended = invalidArgument({ field: "setUp", description: "has ended: begin with the authenticator app again" });
  let stored: unknown;
  try {
    stored = parseJson(secrets.open(setUp, placeOf(purpose)), 4);
  } catch {
    throw ended;
  }
  if (!isObject(stored) || typeof stored["secret"] !== "string" || Number(stored["untilMs"]) <= nowMs) throw ended;
  const { secret } = stored;
  const step = totpStep(secret, code, { nowMs, after: 0 });
  return step === undefined ? undefined : { secret, step };
}

function placeOf(purpose: string): string {
  return `account set-up:${purpose}`;
}
