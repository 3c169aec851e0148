import {
  AdvisoryEvent_AnalysisNotPlannedSchema as V2AnalysisNotPlanned,
  AdvisoryEvent_Detection_ManualSchema as V2Manual,
  AdvisoryEvent_Detection_NVDAPISchema as V2NVDAPI,
  AdvisoryEvent_FalsePositiveDeterminationSchema as V2FalsePositive,
  AdvisoryEvent_FixNotPlannedSchema as V2FixNotPlanned,
  AdvisoryEvent_PendingUpstreamFixSchema as V2PendingUpstreamFix,
  AdvisoryEvent_TruePositiveDeterminationSchema as V2TruePositive,
  DocumentAdvisorySchema,
  DocumentEvent_Detection_ScanV1Schema as V2ScanV1,
  DocumentEvent_DetectionSchema,
  DocumentEvent_FixedSchema,
  DocumentEventSchema,
  DocumentSchema as V2Document,
} from "@moorage/api/messages";
import {
  AdvisorySchema,
  AnalysisNotPlannedSchema,
  Detection_DetectionTypeManualSchema,
  Detection_DetectionTypeNVDAPISchema,
  Detection_DetectionTypeScanV1Schema,
  DetectionSchema,
  DocumentSchema,
  EventSchema,
  FalsePositiveDeterminationSchema,
  FixedSchema,
  FixNotPlannedSchema,
  PendingUpstreamFixSchema,
  TruePositiveDeterminationSchema,
} from "@moorage/api/v1/advisory";
import { type Mapping, mapping, nested, sameNumbers, V1_ONLY } from "../mapping.ts";

const detection = mapping(DetectionSchema, DocumentEvent_DetectionSchema, {
  nvdapi: nested(
    "nvdapi",
    mapping(Detection_DetectionTypeNVDAPISchema, V2NVDAPI, { cpeSearched: "cpeSearched", cpeFound: "cpeFound" }),
  ),
  manual: nested("manual", mapping(Detection_DetectionTypeManualSchema, V2Manual, {})),
  scanv1: nested(
    "scanv1",
    mapping(Detection_DetectionTypeScanV1Schema, V2ScanV1, {
      scanner: "scanner",
      subpackageName: "subpackageName",
      componentId: "componentId",
      componentName: "componentName",
      componentVersion: "componentVersion",
      componentType: "componentType",
      componentLocation: "componentLocation",
      artifactVersion: "artifactVersion",
      scannerVersion: "scannerVersion",
      grypeDbBuilt: "grypeDbBuilt",
      grypeDbChecksum: "grypeDbChecksum",
    }),
  ),
});
const fixed = mapping(FixedSchema, DocumentEvent_FixedSchema, {
  fixedVersion: "fixedVersion",
  scannerVersion: "scannerVersion",
  grypeDbBuilt: "grypeDbBuilt",
  grypeDbChecksum: "grypeDbChecksum",
});
const truePositive = mapping(TruePositiveDeterminationSchema, V2TruePositive, { note: "note" });
const falsePositive = mapping(FalsePositiveDeterminationSchema, V2FalsePositive, {
  type: sameNumbers("type"),
  note: "note",
});
const analysisNotPlanned = mapping(AnalysisNotPlannedSchema, V2AnalysisNotPlanned, { note: "note" });
const fixNotPlanned = mapping(FixNotPlannedSchema, V2FixNotPlanned, { note: "note" });
const pendingUpstreamFix = mapping(PendingUpstreamFixSchema, V2PendingUpstreamFix, { note: "note" });

const event = mapping(EventSchema, DocumentEventSchema, {
  timestamp: "timestamp",
  truePositiveDetermination: nested("truePositiveDetermination", truePositive),
  falsePositiveDetermination: nested("falsePositiveDetermination", falsePositive),
  fixed: nested("fixed", fixed),
  detection: nested("detection", detection),
  analysisNotPlanned: nested("analysisNotPlanned", analysisNotPlanned),
  fixNotPlanned: nested("fixNotPlanned", fixNotPlanned),
  pendingUpstreamFix: nested("pendingUpstreamFix", pendingUpstreamFix),
});
const whole = mapping(AdvisorySchema, DocumentAdvisorySchema, {
  id: "id",
  events: nested("events", event),
  aliases: "aliases",
  packageNamespace: "packageNamespace",
});

/** What one source says. v1 has no form for a patch: an event that says nothing else is left out. */
const advisory: Mapping<typeof AdvisorySchema, typeof DocumentAdvisorySchema> = {
  ...whole,
  toV1(message) {
    const made = whole.toV1(message);
    return { ...made, events: made.events.filter(({ data }) => data.case !== undefined) };
  },
};

export const document = mapping(DocumentSchema, V2Document, {
  id: "id",
  advisories: nested("advisories", advisory),
  // By the list that it is in.
  staleFeeds: V1_ONLY,
});
