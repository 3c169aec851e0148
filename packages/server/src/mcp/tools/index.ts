import type { Tool } from "../tool.ts";
import { diffImages } from "./diff-images.ts";
import { explainAccess } from "./explain-access.ts";
import { findImage } from "./find-image.ts";
import { gcPreview } from "./gc-preview.ts";
import { imageCoverage } from "./image-coverage.ts";
import { imageFindings } from "./image-findings.ts";
import { imageSignatures } from "./image-signatures.ts";
import { listEolTags } from "./list-eol-tags.ts";
import { listSignaturePolicies } from "./list-signature-policies.ts";
import { listUnknownImages } from "./list-unknown-images.ts";
import { promote } from "./promote.ts";
import { resolveAsOf } from "./resolve-as-of.ts";
import { tagHistory } from "./tag-history.ts";

/** All tools, in the order in which they are listed. */
export const TOOLS: readonly Tool[] = [
  findImage,
  tagHistory,
  resolveAsOf,
  diffImages,
  imageFindings,
  imageCoverage,
  listUnknownImages,
  imageSignatures,
  listSignaturePolicies,
  explainAccess,
  listEolTags,
  gcPreview,
  promote,
];
