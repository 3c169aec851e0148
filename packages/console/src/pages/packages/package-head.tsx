import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { call } from "../../api/call.ts";
import { type Artifact, deleteArtifact } from "../../api/gen/libraries.ts";
import { collection } from "../../api/queries.ts";
import { useRights } from "../../lib/rights.ts";
import { parentUid } from "../../lib/uid.ts";
import { Badge } from "../../ui/badge.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Menu } from "../../ui/menu.tsx";
import { say } from "../../ui/toasts.tsx";
import { fileFactsQuery } from "./file-facts.ts";
import styles from "./package.module.css";
import { ecosystemWord } from "./words.ts";

export interface PackageHeadProps {
  package_: Artifact;
  /** The path of its group. */
  group: string;
  version: string;
}

/** What every part of a package begins with: its registry, its name, its version and license. */
export function PackageHead({ package_, group, version }: PackageHeadProps) {
  const { uid, name, ecosystem, description } = package_;
  const { data: facts } = useQuery(fileFactsQuery({ ecosystem, group, name, version }));
  const [isDeleting, setDeleting] = useState(false);
  const rights = useRights(parentUid(uid));
  const client = useQueryClient();
  const navigate = useNavigate();
  return (
    <header className={styles.head}>
      <span className={`${styles.tile} ${styles[ecosystem]}`} aria-hidden>
        {ecosystemWord(ecosystem)}
      </span>
      <div className={styles.titles}>
        <div className={styles.name}>
          <h1>{name}</h1>
          <CopyButton text={name} label="Copy the name" />
          {version !== "" && <Badge isName>{version}</Badge>}
          {facts?.license !== undefined && (
            <Badge look="outline" isName>
              {facts.license}
            </Badge>
          )}
        </div>
        <p className={styles.lede}>{description || `A package of ${ecosystemWord(ecosystem)} in ${group}`}</p>
      </div>
      <Menu
        label={`Actions for ${name}`}
        items={[
          {
            label: "Delete the package",
            isDanger: true,
            disabledReason: rights("CAP_LIBRARIES_ARTIFACTS_DELETE"),
            onSelect: () => setDeleting(true),
          },
        ]}
      />
      <Confirm
        isOpen={isDeleting}
        onClose={() => setDeleting(false)}
        title={`Delete ${name}?`}
        description="All its versions are deleted and can no longer be installed. Their numbers cannot be published again."
        action="Delete"
        onConfirm={async () => {
          await call(deleteArtifact, { uid });
          await navigate({ to: "/packages" });
          await client.invalidateQueries({ queryKey: [collection(deleteArtifact)] });
          say(`${name} is deleted`);
        }}
      />
    </header>
  );
}
