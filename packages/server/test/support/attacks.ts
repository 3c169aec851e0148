import assert from "node:assert/strict";
import type { ExchangeAnswer } from "../../../platform/src/auth/index.ts";
import { Code, MoorageError } from "../../../kernel/src/errors.ts";
import type { AccessHouse } from "./access.ts";
import type { Issuer } from "./issuer.ts";

// Shared by the tests of attacks: each begins with a token that is accepted, changes one thing, and expects a
// rejection.

/** What an exchange asks for: narrowed rights, or an identity. */
export interface Wish {
  identity?: string;
  audiences?: string[];
  capabilities?: string[];
  scopes?: string[];
  organizations?: string[];
}

/** One part of a JWT. */
export function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

/**
 * Makes tokens of the issuer for the server under test, valid except for the given changes. Both are read from
 * `current` at each use.
 */
export function attackOn(current: () => { house: AccessHouse; issuer: Issuer }) {
  const seconds = (offset = 0): number => Math.floor(current().house.clock.nowMs / 1000) + offset;
  return {
    seconds,
    /** A claim match for exactly this subject of the issuer. */
    matching: (subject: string) => ({
      case: "claimMatch" as const,
      value: {
        iss: { case: "issuer" as const, value: current().issuer.url },
        sub: { case: "subject" as const, value: subject },
      },
    }),
    claims: (changes: Record<string, unknown> = {}) => ({
      iss: current().issuer.url,
      sub: "robot",
      aud: current().house.baseUrl,
      iat: seconds(),
      exp: seconds(300),
      ...changes,
    }),
    /**
     * Exchanges the token. Asserts that a rejection for its credentials or rights is in the audit log, without the
     * token.
     */
    async exchange(bearer: string, rest: Wish = {}): Promise<ExchangeAnswer> {
      const { house } = current();
      const before = house.noted.length;
      try {
        return await house.exchanger.exchange({ bearer, audiences: [], ...rest }, house.data());
      } catch (error) {
        if (
          error instanceof MoorageError &&
          (error.code === Code.Unauthenticated || error.code === Code.PermissionDenied)
        ) {
          const entries = house.noted.slice(before);
          assert.ok(
            entries.some(
              ({ method, decision, reason }) =>
                method === "sts.exchange" && decision !== "allowed" && reason !== undefined && reason !== "",
            ),
            `not in the audit log: ${error.message}`,
          );
          for (const secret of bearer.split(".").filter((part) => part.length > 20))
            assert.ok(!JSON.stringify(entries).includes(secret), "the token stands in the audit log");
        }
        throw error;
      }
    },
    /** Asserts a rejection that says why the keys of the issuer cannot be read. */
    unusable: (
      work: Promise<unknown>,
      because: string,
      { iss = current().issuer.url }: { iss?: unknown } = {},
    ): Promise<void> => saying(work, `its issuer ${JSON.stringify(iss)} cannot be used: ${because}`),
    /**
     * Asserts a rejection with the message that does not distinguish an identity that does not name the issuer from a
     * token that the issuer did not sign.
     */
    async unaccepted(
      work: Promise<unknown>,
      { identity: named = "", iss = current().issuer.url }: { identity?: string; iss?: unknown } = {},
    ): Promise<void> {
      const who =
        named === ""
          ? "no identity was named, and none with its issuer and subject accepts"
          : `no identity ${named} accepts`;
      await saying(work, `${who} this token of issuer ${JSON.stringify(iss)}`);
    },
  };
}

/** Asserts a rejection with the code; an UNAUTHENTICATED one must have the message without details. */
export async function refused(work: Promise<unknown>, code: number = Code.Unauthenticated): Promise<void> {
  await assert.rejects(work, (error: unknown) => {
    assert.ok(error instanceof MoorageError, String(error));
    assert.equal(error.code, code, error.message);
    if (code === Code.Unauthenticated) assert.equal(error.message, "Unauthenticated: the token was not accepted");
    return true;
  });
}

/** Asserts the rejection of a token of ours that ended then, in milliseconds since 1970: it says so. */
export async function saidExpired(work: Promise<unknown>, endMs: number): Promise<void> {
  await saying(work, `this token expired at ${new Date(endMs).toISOString()}: make a new one`);
}

/** Asserts a rejection with exactly this reason. */
export async function saying(work: Promise<unknown>, words: string): Promise<void> {
  await assert.rejects(work, {
    code: Code.Unauthenticated,
    message: `Unauthenticated: the token was not accepted: ${words}`,
  });
}

/** How the message of a rejection calls an identity that was not named. */
export const NAMELESS = "the identity with this issuer and subject";
