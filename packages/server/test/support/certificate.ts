import { generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { bitString, der, octets, oid, pem, sequence, set, utcTime } from "./der.ts";

const DAY_MS = 86_400_000;

/**
 * A self-signed certificate for `localhost` and 127.0.0.1, valid now, with its key; both PEM. Written here because
 * node:crypto creates no certificates. Source: RFC 5280 §4.1.
 */
export function selfSigned(): { cert: string; key: string } {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const algorithm = sequence(oid("1.2.840.10045.4.3.2"));
  const name = sequence(set(sequence(oid("2.5.4.3"), der(0x0c, "localhost"))));
  const validity = sequence(utcTime(Date.now() - DAY_MS), utcTime(Date.now() + DAY_MS));
  const names = sequence(der(0x82, "localhost"), der(0x87, Buffer.from([127, 0, 0, 1])));
  const extensions = der(0xa3, sequence(sequence(oid("2.5.29.17"), octets(names))));
  const version = der(0xa0, der(0x02, Buffer.from([2])));
  const serial = der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)]));
  const body = sequence(
    version,
    serial,
    algorithm,
    name,
    validity,
    name,
    publicKey.export({ type: "spki", format: "der" }),
    extensions,
  );
  return {
    cert: pem(sequence(body, algorithm, bitString(sign("sha256", body, privateKey)))),
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

/** A trusted root of Sigstore, as JSON, with an authority of its own. */
export function newTrustedRoot(): string {
  const rawBytes = selfSigned()
    .cert.replaceAll(/-----[A-Z ]+-----/g, "")
    .replaceAll(/\s/g, "");
  return JSON.stringify({ certificateAuthorities: [{ certChain: { certificates: [{ rawBytes }] } }] });
}
