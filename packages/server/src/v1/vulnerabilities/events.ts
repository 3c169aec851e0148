import {
  AdvisoryEvent_AnalysisNotPlannedSchema as V2AnalysisNotPlanned,
  AdvisoryEvent_Detection_ManualSchema as V2Manual,
  AdvisoryEvent_Detection_NVDAPISchema as V2NVDAPI,
  AdvisoryEvent_Detection_ScanV1Schema as V2ScanV1,
  AdvisoryEvent_DetectionSchema as V2Detection,
  AdvisoryEvent_FalsePositiveDeterminationSchema as V2FalsePositive,
  AdvisoryEvent_FixedSchema as V2Fixed,
  AdvisoryEvent_FixNotPlannedSchema as V2FixNotPlanned,
  AdvisoryEvent_PatchedSchema as V2Patched,
  AdvisoryEvent_PendingUpstreamFixSchema as V2PendingUpstreamFix,
  AdvisoryEvent_TruePositiveDeterminationSchema as V2TruePositive,
  AdvisoryEventSchema as V2Event,
} from "@moorage/api/messages";
import {
  AdvisoryEvent_AnalysisNotPlannedSchema,
  AdvisoryEvent_Detection_ManualSchema,
  AdvisoryEvent_Detection_NVDAPISchema,
  AdvisoryEvent_Detection_ScanV1Schema,
  AdvisoryEvent_DetectionSchema,
  AdvisoryEvent_FalsePositiveDeterminationSchema,
  AdvisoryEvent_FixedSchema,
  AdvisoryEvent_FixNotPlannedSchema,
  AdvisoryEvent_PatchedSchema,
  AdvisoryEvent_PendingUpstreamFixSchema,
  AdvisoryEvent_TruePositiveDeterminationSchema,
  AdvisoryEventSchema,
} from "@moorage/api/v1/vulnerabilities";
import { locationChangeOf, setLocationChange } from "@moorage/security/security";
import { type Mapping, mapping, nested, sameNumbers, V1_ONLY } from "../mapping.ts";

const manual = mapping(AdvisoryEvent_Detection_ManualSchema, V2Manual, {});
const nvdapi = mapping(AdvisoryEvent_Detection_NVDAPISchema, V2NVDAPI, {
  cpeSearched: "cpeSearched",
  cpeFound: "cpeFound",
});
const scanv1 = mapping(AdvisoryEvent_Detection_ScanV1Schema, V2ScanV1, {
  scanner: "scanner",
  subpackageName: "subpackage",
  componentId: "componentId",
  componentName: "component",
  componentVersion: "componentVersion",
  componentType: "componentType",
  componentLocation: "componentLocation",
  artifactVersion: "artifactVersion",
  scannerVersion: "scannerVersion",
  grypeDbBuilt: "grypeDbBuilt",
  grypeDbChecksum: "grypeDbChecksum",
});
const detection = mapping(AdvisoryEvent_DetectionSchema, V2Detection, {
  nvdapi: nested("nvdapi", nvdapi),
  manual: nested("manual", manual),
  scanv1: nested("scanv1", scanv1),
});
const fixed = mapping(AdvisoryEvent_FixedSchema, V2Fixed, {
  fixedVersion: "fixedVersion",
  note: "note",
  scannerVersion: "scannerVersion",
  grypeDbBuilt: "grypeDbBuilt",
  grypeDbChecksum: "grypeDbChecksum",
});
const falsePositive = mapping(AdvisoryEvent_FalsePositiveDeterminationSchema, V2FalsePositive, {
  type: sameNumbers("type"),
  note: "note",
});
const truePositive = mapping(AdvisoryEvent_TruePositiveDeterminationSchema, V2TruePositive, { note: "note" });
const analysisNotPlanned = mapping(AdvisoryEvent_AnalysisNotPlannedSchema, V2AnalysisNotPlanned, { note: "note" });
const fixNotPlanned = mapping(AdvisoryEvent_FixNotPlannedSchema, V2FixNotPlanned, { note: "note" });
const pendingUpstreamFix = mapping(AdvisoryEvent_PendingUpstreamFixSchema, V2PendingUpstreamFix, { note: "note" });
const patched = mapping(AdvisoryEvent_PatchedSchema, V2Patched, { patchedVersions: "patchedVersions", note: "note" });

const plain = mapping(AdvisoryEventSchema, V2Event, {
  id: "uid",
  timestamp: "createTime",
  detection: nested("detection", detection),
  fixed: nested("fixed", fixed),
  falsePositiveDetermination: nested("falsePositiveDetermination", falsePositive),
  analysisNotPlanned: nested("analysisNotPlanned", analysisNotPlanned),
  fixNotPlanned: nested("fixNotPlanned", fixNotPlanned),
  pendingUpstreamFix: nested("pendingUpstreamFix", pendingUpstreamFix),
  truePositiveDetermination: nested("truePositiveDetermination", truePositive),
  patched: nested("patched", patched),
  componentLocationChanged: V1_ONLY,
  findings: "findings",
  author: "author",
  reviewer: "reviewer",
  status: sameNumbers("reviewState"),
  issue: "issue",
});

/** Events of advisories. One that says that a component is at another place has no type in v2. */
export const event: Mapping<typeof AdvisoryEventSchema, typeof V2Event> = {
  ...plain,
  toV1(message) {
    const made = plain.toV1(message);
    const change = locationChangeOf({ v1: true }, message);
    if (change !== undefined) made.type = { case: "componentLocationChanged", value: change };
    return made;
  },
  toV2(message) {
    const made = plain.toV2(message);
    if (message.type.case === "componentLocationChanged") setLocationChange(made, message.type.value);
    return made;
  },
};
