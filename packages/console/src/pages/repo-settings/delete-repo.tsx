import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { useState } from "react";
import { call } from "../../api/call.ts";
import { deleteRepo, listRepos, type Repo } from "../../api/gen/registry.ts";
import { collection } from "../../api/queries.ts";
import { repoByPathQuery } from "../../api/repo-by-path.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { TextField } from "../../ui/field.tsx";
import { Row, Section } from "../../ui/page.tsx";
import { say } from "../../ui/toasts.tsx";

export interface DeleteRepoProps {
  repo: Repo;
  /** Its path, which has to be written to delete it. */
  name: string;
  disabledReason: string | undefined;
}

/** The end of a repo with all its tags. */
export function DeleteRepo({ repo: { uid }, name, disabledReason }: DeleteRepoProps) {
  const client = useQueryClient();
  const router = useRouter();
  const [isOpen, setOpen] = useState(false);
  const [written, setWritten] = useState("");
  const confirm = async (): Promise<void> => {
    if (written.trim() !== name) throw new Error(`Enter ${name} to delete it.`);
    await call(deleteRepo, { uid });
    say(`${name} is deleted`);
    // The list of images belongs to another area of the console.
    router.history.push("/images");
    client.removeQueries({ queryKey: repoByPathQuery(name).queryKey });
    await client.invalidateQueries({ queryKey: [collection(listRepos)], refetchType: "none" });
  };
  return (
    <Section title="Delete image">
      <p>This also deletes all its tags with their history, and all versions that are pulled by digest.</p>
      <Row>
        <Button look="danger" disabledReason={disabledReason} onClick={() => setOpen(true)}>
          Delete this image…
        </Button>
      </Row>
      <Confirm
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        title={`Delete ${name}`}
        description="This cannot be undone."
        action="Delete"
        onConfirm={confirm}
      >
        <TextField
          label="Enter the name of the image"
          value={written}
          autoComplete="off"
          onChange={({ target }) => setWritten(target.value)}
        />
      </Confirm>
    </Section>
  );
}
