// Signers with certificates, and images that they sign as Notation does.
import type { Place } from "./catalog/place.ts";
import type { Holder } from "./notation-certificates.ts";
import {
  COSE,
  coseEnvelope,
  type EnvelopeFields,
  JWS,
  jwsEnvelope,
  payloadOf,
  pushNotation,
} from "./notation-signing.ts";
import type { Platform } from "./platform.ts";

let signers = 0;

/** Makes a signer of certificates, by default of whomever the roots have issued one to. Answers its uid. */
export async function newX509Signer(
  platform: Pick<Platform, "ok">,
  group: string,
  x509: object,
  fields: object = {},
): Promise<string> {
  signers += 1;
  const body = { name: `certificates ${signers}`, x509: { identities: ["*"], ...x509 }, ...fields };
  return (await platform.ok("POST", `/registry/v2/signers/${group}`, body)).uid;
}

/** Signs the digest as Notation does. Answers the digest of the signature's manifest. */
export async function signByNotation(
  place: Place,
  digest: string,
  chain: readonly [Holder, ...Holder[]],
  {
    mediaType = JWS,
    annotations,
    ...fields
  }: EnvelopeFields & { mediaType?: string; annotations?: Record<string, string> } = {},
): Promise<string> {
  const answer = await fetch(`${place.url}/v2/${place.name}/manifests/${digest}`, {
    headers: { authorization: `Bearer ${place.token}` },
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${digest}: ${answer.status} ${text}`);
  const signed = (JSON.parse(text) as { mediaType: string }).mediaType;
  const about = { mediaType: signed, ...(annotations !== undefined && { annotations }) };
  const payload = payloadOf(digest, Buffer.byteLength(text), about);
  const content = mediaType === COSE ? coseEnvelope(chain, payload, fields) : await jwsEnvelope(chain, payload, fields);
  return await pushNotation(place, digest, content, { mediaType });
}
