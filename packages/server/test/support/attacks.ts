import assert from "node:assert/strict";
import type { ExchangeAnswer } from "../../src/auth/index.ts";
import { Code, MoorageError } from "../../src/errors.ts";
import type { AccessHouse } from "./access.ts";
import type { Issuer } from "./issuer.ts";

// What the tests of attacks share: each begins with a token that is accepted, changes the one thing, and must be
// refused.

/** What a test asks to have a token limited to, or whom to become. */
export interface Wish {
  identity?: string;
  audiences?: string[];
  capabilities?: string[];
  scopes?: string[];
}

/** One part of a JWT. */
export function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

/**
 * Makes tokens of the issuer, for the house, that are good but for what is changed. Both are asked for when they are
 * needed.
 */
export function attackOn(current: () => { house: AccessHouse; issuer: Issuer }) {
  const seconds = (offset = 0): number => Math.floor(current().house.clock.nowMs / 1000) + offset;
  return {
    seconds,
    /** An identity assumed by exactly this subject of the issuer. */
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
    /** What is refused for want of a good token, or of rights, must stand in the audit log, and the token must not. */
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
    /**
     * Refused in the words for whatever is not to be told apart: of an identity that does not name the issuer, and of a
     * token that it did not sign.
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

/** Refused with the code; for want of a good token, in words that tell nothing. */
export async function refused(work: Promise<unknown>, code: number = Code.Unauthenticated): Promise<void> {
  await assert.rejects(work, (error: unknown) => {
    assert.ok(error instanceof MoorageError, String(error));
    assert.equal(error.code, code, error.message);
    if (code === Code.Unauthenticated) assert.equal(error.message, "Unauthenticated: the token was not accepted");
    return true;
  });
}

/** Refused, and told just this. */
export async function saying(work: Promise<unknown>, words: string): Promise<void> {
  await assert.rejects(work, {
    code: Code.Unauthenticated,
    message: `Unauthenticated: the token was not accepted: ${words}`,
  });
}

/** What a refusal calls an identity that was not named. */
export const NAMELESS = "the identity with this issuer and subject";
