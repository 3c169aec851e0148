import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Archive, ArchiveRestore, GitCompare, Shield, Trash2 } from "lucide-react";
import { useState } from "react";
import { call } from "../../api/call.ts";
import { createTag, deleteTag, getRepo, getTag, listTags, updateRepo } from "../../api/gen/registry.ts";
import { collection } from "../../api/queries.ts";
import { runBulk } from "../../lib/bulk.ts";
import { counted } from "../../lib/bytes.ts";
import { useRights } from "../../lib/rights.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { SelectionBar } from "../../ui/selection-bar.tsx";
import { say } from "../../ui/toasts.tsx";
import type { TagRow } from "./queries.ts";
import { withPatterns } from "./tag-facts.ts";
import { comparedTags } from "./tag-rows.ts";
import styles from "./tag-cells.module.css";

export interface TagActionsProps {
  repo: string;
  repoUid: string;
  selected: readonly TagRow[];
  onDone: () => void;
}

type Asked = "delete" | "protect" | undefined;

/** What can be done with the selected tags. */
export function TagActions({ repo, repoUid, selected, onDone }: TagActionsProps) {
  const rights = useRights(repoUid);
  const client = useQueryClient();
  const navigate = useNavigate();
  const [asked, setAsked] = useState<Asked>();
  const compared = comparedTags(selected);
  const ofTags = counted(selected.length, "tag");
  const run = (title: string, act: (tag: TagRow) => Promise<unknown>): void => {
    const onEnd = (): void => void ended(client, title);
    runBulk({ title, items: selected, nameOf: ({ name }) => name, act, onEnd }).catch((error: Error) =>
      say(error.message),
    );
    onDone();
  };
  const mayNotGovern = rights("CAP_REPO_UPDATE") ?? rights("CAP_REPO_POLICY_UPDATE");
  const mayMove = rights("CAP_TAG_CREATE") ?? rights("CAP_TAG_UPDATE");
  const deprecate = (deprecated: boolean) => (): void =>
    run(`${deprecated ? "Deprecating" : "Undeprecating"} tags of ${repo}`, (tag) =>
      setDeprecated(repoUid, tag, deprecated),
    );
  return (
    <>
      <SelectionBar count={selected.length} onClear={onDone}>
        <Button
          look="quiet"
          disabledReason={compared === undefined ? "Select tags of two digests to compare" : undefined}
          icon={<GitCompare size={16} aria-hidden />}
          onClick={() => compared && void navigate({ href: compareHref(repo, compared) })}
        >
          Compare
        </Button>
        <Button
          look="quiet"
          disabledReason={mayNotGovern}
          icon={<Shield size={16} aria-hidden />}
          onClick={() => setAsked("protect")}
        >
          Protect
        </Button>
        {selected.every(({ deprecated }) => deprecated) ? (
          <Button
            look="quiet"
            disabledReason={mayMove}
            icon={<ArchiveRestore size={16} aria-hidden />}
            onClick={deprecate(false)}
          >
            Undeprecate
          </Button>
        ) : (
          <Button
            look="quiet"
            disabledReason={mayMove}
            icon={<Archive size={16} aria-hidden />}
            onClick={deprecate(true)}
          >
            Deprecate
          </Button>
        )}
        <Button
          look="quiet"
          className={styles.delete ?? ""}
          disabledReason={rights("CAP_TAG_DELETE")}
          icon={<Trash2 size={16} aria-hidden />}
          onClick={() => setAsked("delete")}
        >
          Delete
        </Button>
      </SelectionBar>
      <Confirm
        isOpen={asked === "delete"}
        onClose={() => setAsked(undefined)}
        title={`Delete ${ofTags}?`}
        description="Their histories are kept, and a rollback restores them as long as their images exist."
        action="Delete"
        onConfirm={async () => run(`Deleting tags of ${repo}`, ({ uid }) => call(deleteTag, { uid }))}
      />
      <Confirm
        isOpen={asked === "protect"}
        onClose={() => setAsked(undefined)}
        title={`Protect ${ofTags}?`}
        description="Nobody can move or delete them until the image's tag rules change."
        action="Protect"
        onConfirm={async () => {
          await protect(repoUid, selected);
          await client.invalidateQueries({ queryKey: [collection(getRepo)] });
          say(`${ofTags} protected`);
          onDone();
        }}
      />
    </>
  );
}

/** The comparison of two tags, the older one first. */
function compareHref(repo: string, [newer, older]: readonly [TagRow, TagRow]): string {
  return `/compare?${new URLSearchParams({ from: `${repo}:${older.name}`, to: `${repo}:${newer.name}` }).toString()}`;
}

async function ended(client: QueryClient, title: string): Promise<void> {
  await client.invalidateQueries({ queryKey: [collection(listTags)] });
  say(`${title}: ended`);
}

// Of a tag that was found by a search only its name is known, and it may have moved since.
async function setDeprecated(parent: string, { uid }: TagRow, deprecated: boolean): Promise<void> {
  const { name, digest, bundles } = await call(getTag, { uid });
  await call(createTag, { parent, tag: { name, digest, bundles, deprecated } });
}

async function protect(uid: string, tags: readonly TagRow[]): Promise<void> {
  const { tagPolicy } = await call(getRepo, { uid });
  const names = tags.map(({ name }) => name);
  const added = {
    ...tagPolicy,
    immutableTags: withPatterns(tagPolicy?.immutableTags ?? [], names),
    protectedTags: withPatterns(tagPolicy?.protectedTags ?? [], names),
  };
  await call(updateRepo, { repo: { uid, tagPolicy: added }, updateMask: "tagPolicy" });
}
