import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";

// A passkey in software: it makes what a browser and an authenticator send, with real keys. A test changes what an
// attacker would change. Source: Web Authentication Level 3 §6.1, §6.5.

/** What a test changes of what is made. */
export interface Changes {
  /** The origin of the page that asks; the real one by default. */
  origin?: string;
  /** The host that the authenticator is asked for; that of the options by default. */
  rpId?: string;
  challenge?: string;
  /** Whether the person was recognized, by a finger or a PIN. */
  userVerified?: boolean;
  type?: string;
  /** The attestation's format and statement, in CBOR. */
  attestation?: { format: string; statement: Buffer };
  signCount?: number;
}

/** The options that the server answers. */
export interface Options {
  challenge: string;
  rpId?: string;
  rp?: { id: string };
  user?: { id: string };
}

export interface Authenticator {
  id: string;
  create(options: Options, origin: string, changes?: Changes): string;
  get(options: Options, origin: string, changes?: Changes): string;
}

export function createSoftwarePasskey(): Authenticator {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const credentialId = randomBytes(32);
  const id = credentialId.toString("base64url");
  const { x = "", y = "" } = publicKey.export({ format: "jwk" });
  const coseKey = Buffer.concat([
    // {1: 2 (EC2), 3: -7 (ES256), -1: 1 (P-256), -2: x, -3: y}
    Buffer.from("a5010203262001215820", "hex"),
    Buffer.from(x, "base64url"),
    Buffer.from("225820", "hex"),
    Buffer.from(y, "base64url"),
  ]);
  let signCount = 0;
  let handle: string | undefined;

  const clientData = (type: string, options: Options, origin: string, changes: Changes): Buffer =>
    Buffer.from(
      JSON.stringify({
        type: changes.type ?? type,
        challenge: changes.challenge ?? options.challenge,
        origin: changes.origin ?? origin,
        crossOrigin: false,
      }),
    );
  const authData = (options: Options, flags: number, changes: Changes): Buffer => {
    const rpId = changes.rpId ?? options.rpId ?? options.rp?.id ?? "";
    const count = Buffer.alloc(4);
    count.writeUInt32BE(changes.signCount ?? (signCount += 1));
    const verified = changes.userVerified === false ? 0 : 0x04;
    return Buffer.concat([sha256(Buffer.from(rpId)), Buffer.from([flags | 0x01 | verified]), count]);
  };
  return {
    id,
    create(options, origin, changes = {}) {
      handle = options.user?.id;
      const clientDataJSON = clientData("webauthn.create", options, origin, changes);
      const data = Buffer.concat([
        authData(options, 0x40, changes),
        Buffer.alloc(16),
        Buffer.from([0, credentialId.length]),
        credentialId,
        coseKey,
      ]);
      const { format, statement } = changes.attestation ?? { format: "none", statement: Buffer.from([0xa0]) };
      const attestationObject = Buffer.concat([
        Buffer.from([0xa3]),
        cborText("fmt"),
        cborText(format),
        cborText("attStmt"),
        statement,
        cborText("authData"),
        cborBytes(data),
      ]);
      return JSON.stringify({
        id,
        rawId: id,
        type: "public-key",
        response: {
          clientDataJSON: clientDataJSON.toString("base64url"),
          attestationObject: attestationObject.toString("base64url"),
          transports: ["internal"],
        },
        clientExtensionResults: {},
      });
    },
    get(options, origin, changes = {}) {
      const clientDataJSON = clientData("webauthn.get", options, origin, changes);
      const data = authData(options, 0, changes);
      const signature = sign("sha256", Buffer.concat([data, sha256(clientDataJSON)]), privateKey);
      return JSON.stringify({
        id,
        rawId: id,
        type: "public-key",
        response: {
          clientDataJSON: clientDataJSON.toString("base64url"),
          authenticatorData: data.toString("base64url"),
          signature: signature.toString("base64url"),
          userHandle: handle,
        },
        clientExtensionResults: {},
      });
    },
  };
}

/** A text in CBOR. */
export function cborText(text: string): Buffer {
  return Buffer.concat([Buffer.from([0x60 + text.length]), Buffer.from(text)]);
}

/** Bytes in CBOR. */
export function cborBytes(bytes: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([Buffer.from([0x59]), length, bytes]);
}

function sha256(bytes: Buffer): Buffer {
  return createHash("sha256").update(bytes).digest();
}
