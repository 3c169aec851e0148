import { useQuery } from "@tanstack/react-query";
import type { Artifact } from "../../api/gen/libraries.ts";
import { bytes } from "../../lib/bytes.ts";
import type { Column } from "../../ui/column.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Panel, PanelBody } from "../../ui/panel.tsx";
import { ShortTable } from "../../ui/short-table.tsx";
import { fileFactsQuery, type PackageFile } from "./file-facts.ts";
import styles from "./package.module.css";

const COLUMNS: readonly Column<PackageFile>[] = [
  { id: "name", header: "File", cell: ({ name }) => name },
  {
    id: "hash",
    header: "Checksum",
    isMinor: true,
    cell: ({ hash }) =>
      hash === undefined ? (
        "not stated"
      ) : (
        <>
          <code className={styles.hash} title={hash}>
            {hash}
          </code>
          <CopyButton text={hash} label="Copy the checksum" />
        </>
      ),
  },
  {
    id: "size",
    header: "Size",
    align: "end",
    cell: ({ sizeBytes }) => (sizeBytes === undefined ? "not stated" : bytes(sizeBytes)),
  },
];

export interface FilesProps {
  package_: Artifact;
  /** The path of its group. */
  group: string;
  version: string;
}

/** The files of a version, as clients find them. */
export function Files({ package_: { ecosystem, name }, group, version }: FilesProps) {
  const { data, error, isPending } = useQuery(fileFactsQuery({ ecosystem, group, name, version }));
  const isMaven = ecosystem === "ECOSYSTEM_JAVA";
  return (
    <Panel title={`Files of ${version}`}>
      {isMaven ? (
        <PanelBody>
          <p>
            Maven finds them below{" "}
            <code>
              /maven/{group}/-/{name.split(":")[0]?.replaceAll(".", "/")}/{name.split(":")[1]}/{version}/
            </code>
          </p>
        </PanelBody>
      ) : error !== null ? (
        <PanelBody>
          <p>They are not shown: {error.message}</p>
        </PanelBody>
      ) : isPending ? (
        <PanelBody>…</PanelBody>
      ) : (
        <ShortTable label={`Files of ${version}`} rows={data.files} columns={COLUMNS} idOf={({ name: file }) => file} />
      )}
    </Panel>
  );
}
