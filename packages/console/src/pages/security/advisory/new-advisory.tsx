import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useId, useState } from "react";
import { call } from "../../../api/call.ts";
import type { Group } from "../../../api/gen/iam.ts";
import { createAdvisory } from "../../../api/gen/vulnerabilities.ts";
import { collection } from "../../../api/queries.ts";
import { GroupField } from "../../../ui/group-field.tsx";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { ErrorNote } from "../../../ui/error-note.tsx";
import { SelectField, TextField } from "../../../ui/field.tsx";

const TYPES = ["OCI_IMAGE", "APK", "DEB", "RPM", "NPM", "PYPI", "MAVEN", "GO"];

export interface NewAdvisoryProps {
  group: string;
  groups: readonly Group[];
  /** The id that it is about, where that is known. */
  vulnerability?: string;
  /** The name of the package that has it, where that is known. */
  component?: string;
  onClose: () => void;
}

/** Writes an advisory with a detection, and goes to it. */
export function NewAdvisory({ group, groups, vulnerability = "", component = "", onClose }: NewAdvisoryProps) {
  const id = useId();
  const [parent, setParent] = useState(group);
  const [state, setState] = useState<{ isBusy: boolean; error?: unknown }>({ isBusy: false });
  const client = useQueryClient();
  const navigate = useNavigate();
  const create = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const field = (name: string): string => String(form.get(name) ?? "").trim();
    setState({ isBusy: true });
    try {
      const { uid } = await call(createAdvisory, {
        parent,
        advisory: {
          artifactName: field("artifact"),
          artifactType: field("type"),
          componentName: field("component"),
          aliases: field("aliases")
            .split(/[\s,]+/)
            .filter(Boolean),
          events: [{ detection: { manual: {} } }],
        },
      });
      await client.invalidateQueries({ queryKey: [collection(createAdvisory)] });
      await navigate({ to: "/advisory", search: { uid } });
    } catch (error) {
      setState({ isBusy: false, error });
    }
  };
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title="New advisory"
      description="What is known about one vulnerability in one image or package. It starts with its detection."
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" form={id} isBusy={state.isBusy}>
            Create
          </Button>
        </>
      }
    >
      <form id={id} onSubmit={(event) => void create(event)}>
        <GroupField value={parent} onValue={setParent} groups={groups} />
        <TextField
          label="Vulnerability"
          name="aliases"
          help="Its ids, such as CVE-2026-1234"
          required
          defaultValue={vulnerability}
        />
        <SelectField label="Kind of artifact" name="type">
          {TYPES.map((type) => (
            <option key={type}>{type}</option>
          ))}
        </SelectField>
        <TextField label="Artifact" name="artifact" help="The path of an image, as acme/app, or a package" required />
        <TextField
          label="Component"
          name="component"
          help="The part that has the vulnerability, if it is not the whole"
          defaultValue={component}
        />
        <ErrorNote error={state.error} />
      </form>
    </Dialog>
  );
}
