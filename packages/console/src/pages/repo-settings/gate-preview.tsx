import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { VulnerabilityGateInput } from "../../api/gen/registry.ts";
import { count, counted } from "../../lib/bytes.ts";
import { Badge } from "../../ui/badge.tsx";
import type { Column } from "../../ui/column.ts";
import { DataTable } from "../../ui/data-table.tsx";
import { DigestChip } from "../../ui/digest-chip.tsx";
import { Row } from "../../ui/page.tsx";
import { StaleFeeds, UnknownImages } from "../security/knowledge.tsx";
import { SeverityBadge } from "../security/severity.tsx";
import { type GatedImage, gatedImages, type MeantFindings, meantQuery } from "./gate-counts.ts";
import { PreviewFrame } from "./preview-frame.tsx";
import styles from "./retention-rules.module.css";

export interface GatePreviewProps {
  repo: { uid: string; path: string };
  gate: VulnerabilityGateInput;
  /** Whether the gate is the one that holds already. */
  isSaved: boolean;
}

/** Which images a gate would block now, as it is typed. It blocks nothing. */
export function GatePreview({ repo, gate, isSaved }: GatePreviewProps) {
  const { data, error, isPlaceholderData } = useQuery({
    ...meantQuery(repo.uid, gate),
    staleTime: 0,
    retry: false,
    // While the next values are looked at, what the last ones would do stays.
    placeholderData: keepPreviousData,
  });
  return (
    <PreviewFrame isSaved={isSaved} isBusy={isPlaceholderData} error={error} data={data}>
      {(meant) => <Gated repo={repo} gate={gate} meant={meant} />}
    </PreviewFrame>
  );
}

function Gated({ repo, gate, meant }: Pick<GatePreviewProps, "repo" | "gate"> & { meant: MeantFindings }) {
  const images = gatedImages(meant.findings, gate.graceDays ?? 0, meant.nowMs);
  return (
    <>
      <div className={styles.numbers}>
        <p>
          <b>
            {meant.isWhole ? "" : "at least "}
            {count(images.length)}
          </b>{" "}
          {images.length === 1 ? "image" : "images"} with findings that count
        </p>
        <Unknown gate={gate} summary={meant.unknown} />
      </div>
      <p className={styles.quiet}>
        Of the images that tags point to, by what is known now. {effectOf(gate)} An index is pulled as long as one of
        its images is, and promoted if all of them are.
        {!meant.isWhole && ` ${counted(meant.findings.length, "finding")} were read; there are more.`}
      </p>
      <UnknownImages summary={meant.unknown} />
      <StaleFeeds feeds={meant.staleFeeds} />
      {images.length > 0 && (
        <DataTable
          label="Images with findings that count"
          rowWord="image"
          rows={images}
          columns={columnsOf(repo.path)}
          idOf={({ digest }) => digest}
          total={meant.isWhole ? images.length : undefined}
        />
      )}
    </>
  );
}

/** How many images are not known, and what the gate does about them. */
function Unknown({
  gate,
  summary,
}: {
  gate: VulnerabilityGateInput;
  summary: { notRead: number; noData: number; atLeast: boolean } | undefined;
}) {
  if (summary === undefined)
    return (
      <p>
        <b>?</b> images not known
      </p>
    );
  const { notRead, noData, atLeast } = summary;
  const all = notRead + noData;
  const passes = all === 1 ? "which passes" : "which pass";
  return (
    <p>
      <b>
        {atLeast ? "at least " : ""}
        {count(all)}
      </b>{" "}
      {all === 1 ? "image" : "images"} not known, {gate.onUnknown === "ON_UNKNOWN_PASS" ? passes : "blocked too"}
    </p>
  );
}

function effectOf({ mode, on }: VulnerabilityGateInput): string {
  if (on === undefined || on.length === 0) return "Select what images are blocked from.";
  if (mode !== "GATE_MODE_ENFORCE") return "An event would be emitted; nothing would be rejected.";
  const words = { GATE_ACTION_UNSPECIFIED: "", GATE_ACTION_PULL: "pulled", GATE_ACTION_PROMOTE: "promoted" };
  return `They could not be ${on.map((action) => words[action]).join(" or ")}.`;
}

function columnsOf(path: string): readonly Column<GatedImage>[] {
  return [
    {
      id: "tags",
      header: "Tags",
      cell: ({ tags, tagsTotal }) => {
        const rest = tagsTotal - Math.min(tags.length, SHOWN_TAGS);
        return `${tags.slice(0, SHOWN_TAGS).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
      },
    },
    { id: "platform", header: "Platform", isMinor: true, cell: ({ platform }) => platform || "not in an index" },
    {
      id: "digest",
      header: "Image",
      isMinor: true,
      cell: ({ digest }) => (
        <DigestChip digest={digest} href={`/image?name=${encodeURIComponent(`${path}@${digest}`)}&part=findings`} />
      ),
    },
    {
      id: "worst",
      header: "Among them",
      cell: ({ worst: { vulnerability, severity, score, kev } }) => (
        <Row>
          <a href={`/vulnerability?id=${encodeURIComponent(vulnerability)}`}>{vulnerability}</a>
          <SeverityBadge severity={severity} score={score} />
          {kev && <Badge look="critical">Exploited</Badge>}
        </Row>
      ),
    },
    { id: "count", header: "Findings", align: "end", cell: (row) => count(row.count) },
  ];
}

const SHOWN_TAGS = 3;
