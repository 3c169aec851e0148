import {
  CheckIdentityResponse_Status as Status,
  type CheckIdentityResponseSchema,
  type Identity,
} from "@moorage/api/messages";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { IssuerKeys } from "@moorage/kernel/core/service";
import { milliseconds } from "@moorage/kernel/lib/timestamps";
import { organizationOf } from "@moorage/kernel/lib/uid";

/**
 * Says whether tokens can be verified for the identity: by the keys that its issuer publishes, which may be asked for
 * them, or by its own. Throws UNAVAILABLE when too many issuers are being asked.
 */
export async function checkIssuer(
  issuers: IssuerKeys,
  { uid, relationship }: Identity,
  nowMs: number,
): Promise<MessageInitShape<typeof CheckIdentityResponseSchema>> {
  if (relationship.case === "staticKeys") {
    const { expirationTime } = relationship.value;
    if (expirationTime === undefined || milliseconds(expirationTime) > nowMs)
      return { status: Status.READY, message: "its keys are known" };
    return { status: Status.NOT_READY, reason: "EXPIRED", message: "its keys have expired" };
  }
  if (relationship.case !== "claimMatch")
    return { status: Status.NOT_CHECKED, reason: "NO_ISSUER", message: "it is not assumed by tokens of an issuer" };
  const { iss } = relationship.value;
  if (iss.case !== "issuer")
    return {
      status: Status.NOT_CHECKED,
      reason: "PATTERN",
      message: "its issuer is given by a pattern, so that there is not one to ask",
    };
  const fault = await issuers.faultOf(iss.value, nowMs, organizationOf(uid));
  if (fault === undefined) return { status: Status.READY, message: "the keys of its issuer are known" };
  return {
    status: Status.NOT_READY,
    reason: fault.reason,
    message: `the issuer ${iss.value} cannot be used: ${fault.message}`,
  };
}
