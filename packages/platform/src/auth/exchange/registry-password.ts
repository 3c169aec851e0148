import { permissionDenied } from "@moorage/kernel/errors";
import { isUid } from "@moorage/kernel/lib/uid";
import { isPasswordIssuer } from "../../iam/index.ts";
import type { Jwt } from "../tokens/jwt.ts";
import { rejection } from "../tokens/jwt.ts";
import type { Narrowing } from "./narrowing.ts";

const MAX_SCOPES = 50;

/**
 * What a pull or push token is narrowed to by its own claim `scopes`, the uids of groups or repos; nothing for a token
 * of another issuer, whose claims of that name mean something else. Throws PERMISSION_DENIED when such a password is
 * traded for more than the registry: who finds one must not come into the platform API with it. Throws UNAUTHENTICATED
 * for a claim that cannot be read. Expects a verified signature.
 */
export function heldByPassword(
  { claims }: Jwt,
  audiences: readonly string[],
  registryAudience: string,
): Pick<Narrowing, "scopes"> {
  if (!isPasswordIssuer(claims["iss"])) return {};
  if (audiences.some((audience) => audience !== registryAudience))
    throw permissionDenied("a pull or push token cannot be traded for anything but the registry", {
      reason: "AUDIENCE",
    });
  const { scopes } = claims;
  if (scopes === undefined) return {};
  if (!isListOfUids(scopes)) throw rejection();
  return { scopes };
}

function isListOfUids(value: unknown): value is string[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.length <= MAX_SCOPES &&
    value.every((one) => typeof one === "string" && isUid(one))
  );
}
