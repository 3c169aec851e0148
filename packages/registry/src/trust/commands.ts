import { checkNextSignatures } from "./attached/check.ts";
import { checkNextSigner } from "./attached/signer-changes.ts";
import {
  claimSignatures,
  failSignatures,
  finishSignatures,
  releaseSignatures,
  renewSignatures,
} from "./queue/queue.ts";
import { noteSignaturePull } from "./gate/events.ts";
import { hurrySignatures } from "./queue/hurry.ts";
import { noteTufRefresh, placeTufMirror } from "./roots/copies.ts";
import { noteTrustRoot } from "./roots/note.ts";
import { removeUnusedReadings } from "./queue/remove.ts";
import { removeUnusedCertificateStatuses } from "./revocation/remove.ts";
import { checkNextCertificateStatus, noteCertificateStatus, useCertificateStatuses } from "./revocation/statuses.ts";

/** The commands of trust beside the methods of the API. */
export const trustCommands = [
  checkNextSignatures,
  checkNextSigner,
  checkNextCertificateStatus,
  claimSignatures,
  failSignatures,
  finishSignatures,
  hurrySignatures,
  noteSignaturePull,
  noteCertificateStatus,
  noteTrustRoot,
  noteTufRefresh,
  placeTufMirror,
  releaseSignatures,
  removeUnusedReadings,
  removeUnusedCertificateStatuses,
  renewSignatures,
  useCertificateStatuses,
];
