import { isIP } from "node:net";
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";
import { failedPrecondition, invalidArgument } from "@moorage/kernel/errors";
import { isObject, parseJson } from "@moorage/kernel/lib/json";
import type { Row } from "@moorage/kernel/store";

// Passkeys. Source: Web Authentication Level 3.

/** Where a passkey is used: the page's origin, and the host that it is bound to. */
export interface RelyingParty {
  origin: string;
  id: string;
}

/** A passkey that was made just now. */
export type NewPasskey = Pick<Row<"passkeys">, "id" | "public_key" | "sign_count" | "rp_id" | "transports">;

const TIMEOUT_MS = 300_000;
// Ed25519, ECDSA on P-256, RSA.
const ALGORITHMS = [-8, -7, -257];
const MAX_DEPTH = 6;
const MAX_ID_CHARS = 1364;
const MAX_KEY_CHARS = 4096;
const BASE64URL = /^[\w-]+$/;
const TRANSPORTS = ["ble", "cable", "hybrid", "internal", "nfc", "smart-card", "usb"];

/** Throws FAILED_PRECONDITION for an address that passkeys cannot be bound to. */
export function relyingParty(origin: string): RelyingParty {
  const { hostname: id, protocol } = new URL(origin);
  if (
    isIP(id.replace(/^\[|\]$/g, "")) !== 0 ||
    (protocol !== "https:" && id !== "localhost" && !id.endsWith(".localhost"))
  )
    throw failedPrecondition({
      type: "NO_PASSKEYS_HERE",
      subject: origin,
      description: "browsers make passkeys for https and a host name alone, or for localhost: use a password here",
    });
  return { origin, id };
}

/** What the browser makes a passkey by. `handle`: what the passkey names the account by, without the person's name. */
export function creationOptions(
  { id }: RelyingParty,
  challenge: string,
  { handle, name, has }: { handle: string; name: string; has: readonly Pick<Row<"passkeys">, "id">[] },
): object {
  return {
    rp: { id, name: "Moorage" },
    user: { id: Buffer.from(handle).toString("base64url"), name, displayName: name },
    challenge,
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ alg, type: "public-key" })),
    timeout: TIMEOUT_MS,
    attestation: "none",
    excludeCredentials: has.map((passkey) => ({ id: passkey.id, type: "public-key" })),
    authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification: "required" },
  };
}

/** What the browser signs in by, with any passkey of this host. */
export function requestOptions({ id }: RelyingParty, challenge: string): object {
  return { rpId: id, challenge, timeout: TIMEOUT_MS, userVerification: "required", allowCredentials: [] };
}

/** What a browser sent, and the challenge that it says it answers. */
export interface Sent<T> {
  credential: T;
  challenge: string;
}

/** Reads a new passkey. Throws INVALID_ARGUMENT for a text that cannot be one. */
export function readCreated(text: string): Sent<RegistrationResponseJSON> {
  const credential = readCredential<RegistrationResponseJSON>(text, ["attestationObject"]);
  return { credential, challenge: challengeIn(credential.response.clientDataJSON) };
}

/** Reads a passkey's answer to a challenge. Throws INVALID_ARGUMENT for a text that cannot be one. */
export function readAsserted(text: string): Sent<AuthenticationResponseJSON> {
  const credential = readCredential<AuthenticationResponseJSON>(text, ["authenticatorData", "signature"]);
  return { credential, challenge: challengeIn(credential.response.clientDataJSON) };
}

/**
 * The passkey, verified for the challenge and this server. Undefined when it is not accepted. Certificates of its maker
 * are not: nothing depends on them, and a check would ask addresses that they name.
 */
export async function verifyCreated(
  { credential, challenge }: Sent<RegistrationResponseJSON>,
  { origin, id: rpId }: RelyingParty,
): Promise<NewPasskey | undefined> {
  const [{ verifyRegistrationResponse }, { decodeAttestationObject, isoBase64URL }] = await Promise.all([
    import("@simplewebauthn/server"),
    import("@simplewebauthn/server/helpers"),
  ]);
  try {
    const attestation = decodeAttestationObject(isoBase64URL.toBuffer(credential.response.attestationObject));
    const format = attestation.get("fmt");
    const isOwnWord = format === "packed" && attestation.get("attStmt").get("x5c") === undefined;
    if (format !== "none" && !isOwnWord) return undefined;
    const { registrationInfo: made } = await verifyRegistrationResponse({
      response: credential,
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    });
    if (made === undefined) return undefined;
    const publicKey = isoBase64URL.fromBuffer(made.credential.publicKey);
    if (publicKey.length > MAX_KEY_CHARS || made.credential.id.length > MAX_ID_CHARS) return undefined;
    const transports = Array.isArray(credential.response.transports) ? credential.response.transports : [];
    return {
      id: made.credential.id,
      public_key: publicKey,
      sign_count: made.credential.counter,
      rp_id: rpId,
      transports: JSON.stringify(TRANSPORTS.filter((one) => transports.some((sent) => sent === one))),
    };
  } catch {
    // The library throws plain errors for everything that does not fit.
    return undefined;
  }
}

/** The passkey's new count of signatures; undefined when its answer is not accepted. */
export async function verifyAsserted(
  { credential, challenge }: Sent<AuthenticationResponseJSON>,
  { origin, id: rpId }: RelyingParty,
  passkey: Pick<Row<"passkeys">, "id" | "public_key" | "sign_count" | "rp_id">,
): Promise<number | undefined> {
  if (passkey.rp_id !== rpId) return undefined;
  const { verifyAuthenticationResponse } = await import("@simplewebauthn/server");
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: credential,
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserVerification: true,
      credential: {
        id: passkey.id,
        publicKey: new Uint8Array(Buffer.from(passkey.public_key, "base64url")),
        counter: passkey.sign_count,
      },
    });
    return verified ? authenticationInfo.newCounter : undefined;
  } catch {
    return undefined;
  }
}

function readCredential<T>(text: string, parts: readonly string[]): T {
  const wrong = invalidArgument({ field: "credential", description: "is not what browsers make of a passkey" });
  let value: unknown;
  try {
    value = parseJson(text, MAX_DEPTH, 1_000);
  } catch {
    throw wrong;
  }
  if (!isObject(value) || !isObject(value["response"])) throw wrong;
  const { id, rawId, type, response } = value;
  const texts = [id, rawId, ...["clientDataJSON", ...parts].map((part) => response[part])];
  if (type !== "public-key" || id !== rawId || !texts.every((one) => typeof one === "string" && BASE64URL.test(one)))
    throw wrong;
  if (String(id).length > MAX_ID_CHARS) throw wrong;
  return { ...value, clientExtensionResults: {} } as T;
}

function challengeIn(clientDataJSON: string): string {
  try {
    const data = parseJson(Buffer.from(clientDataJSON, "base64url").toString("utf8"), MAX_DEPTH, 1_000);
    if (isObject(data) && typeof data["challenge"] === "string") return data["challenge"];
  } catch {
    // Answered below.
  }
  throw invalidArgument({ field: "credential", description: "answers no challenge" });
}
