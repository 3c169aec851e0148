import { generateKeyPairSync, randomBytes, sign } from "node:crypto";

/**
 * A self-signed certificate for `localhost` and 127.0.0.1, valid now, with its key; both PEM. Written here because
 * node:crypto creates no certificates. Source: RFC 5280 §4.1.
 */
export function selfSigned(): { cert: string; key: string } {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const algorithm = sequence(oid("2a8648ce3d040302"));
  const name = sequence(der(0x31, sequence(oid("550403"), der(0x0c, Buffer.from("localhost")))));
  const validity = sequence(time(-1), time(1));
  const names = sequence(der(0x82, Buffer.from("localhost")), der(0x87, Buffer.from([127, 0, 0, 1])));
  const extensions = der(0xa3, sequence(sequence(oid("551d11"), der(0x04, names))));
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
  const signature = der(0x03, Buffer.concat([Buffer.from([0]), sign("sha256", body, privateKey)]));
  const lines =
    sequence(body, algorithm, signature)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

/** One DER element; contents of up to 65,535 bytes. */
function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function sequence(...parts: Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, "hex"));
}

/** A UTCTime that many days from now. */
function time(days: number): Buffer {
  const text = new Date(Date.now() + days * 86_400_000)
    .toISOString()
    .replace(/[-:T]|\.\d+/g, "")
    .slice(2);
  return der(0x17, Buffer.from(text));
}
