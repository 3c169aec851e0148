import { call } from "../../../api/call.ts";
import { ApiError } from "../../../api/errors.ts";
import { createSignatureExemption, type SignatureExemption } from "../../../api/gen/registry.ts";
import { repoByPath } from "../../../api/repo-by-path.ts";
import type { FormSpec } from "../../access/parts/resource.ts";

const DAY_MS = 86_400_000;

/** Lets one image, or what one tag points to, pass a policy for some time. */
export function newExemptionForm(policy: string): FormSpec<SignatureExemption> {
  return {
    title: "New exemption",
    action: "Create",
    description:
      "The image passes until the exemption ends. Everyone who can see the policy can see the exemption and its reason.",
    fields: [
      {
        name: "image",
        label: "Image",
        help: "With a tag or a digest: acme/app:1.2 covers what the tag points to, acme/app@sha256:… only that version",
      },
      { name: "reason", label: "Reason" },
      { name: "days", label: "Days", initial: "7", help: "At most 90" },
    ],
    send: async ({ image = "", reason = "", days = "" }) => {
      const { path, tag, digest } = partsOf(image.trim());
      const expireTime = new Date(Date.now() + (Number(days) || 0) * DAY_MS).toISOString();
      return await call(createSignatureExemption, {
        parent: policy,
        signatureExemption: { repo: await repoByPath(path), tag, digest, reason, expireTime },
      });
    },
  };
}

function partsOf(image: string): { path: string; tag: string; digest: string } {
  const [name = "", digest = ""] = image.split("@");
  const colon = name.indexOf(":", name.lastIndexOf("/") + 1);
  const path = colon < 0 ? name : name.slice(0, colon);
  const tag = colon < 0 || digest !== "" ? "" : name.slice(colon + 1);
  if (path === "" || (tag === "" && digest === ""))
    throw new ApiError(400, {
      code: "INVALID_ARGUMENT",
      message: "Some fields need to be corrected.",
      violations: [{ field: "image", description: "must have a tag or a digest, as acme/app:1.2" }],
    });
  return { path, tag, digest };
}
