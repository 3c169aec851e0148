import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Command } from "../../ui/command.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Stack } from "../../ui/page.tsx";
import { IDENTITIES } from "./identities-page.tsx";
import { type MadeMachine, newMachineForm } from "./machine-form.tsx";
import { usePaths } from "./parts/data.ts";
import { ResourcePage } from "./parts/resource-page.tsx";
import { useRows } from "./parts/rows.ts";
import { parentOf } from "./parts/tree.ts";
import { machinesList } from "./queries.ts";
import { issuerQuery, registryHostQuery } from "./registry-host.ts";

const route = getRouteApi("/shell/access/machines");

/** `/access/machines`: CI jobs, clusters and clouds whose own tokens log them in. */
export function MachinesPage() {
  const search = route.useSearch();
  const [made, setMade] = useState<MadeMachine>();
  const list = useRows(machinesList(search), ({ identities }) => identities);
  const spec = {
    ...IDENTITIES,
    title: "Machines",
    noun: "machine",
    intro:
      "CI jobs, pods, and cloud machines that log in with tokens signed by their own system, so there is no stored secret to steal. Anything that cannot do that uses a pull token.",
    create: {
      ...IDENTITIES.create,
      form: newMachineForm,
      done: (done: unknown) => {
        const machine = done as MadeMachine;
        if (machine.form !== undefined) setMade(machine);
      },
    },
    empty: {
      title: "No machines here",
      text: "Create one for each repository that pushes, so that each has only the permissions it needs.",
      command: "moorage identities create acme/ci --github acme/app --branch main --role registry.push",
    },
  };
  return (
    <ResourcePage spec={spec} list={list} group={search.group ?? ""} order={search.order}>
      {made?.form !== undefined && <LoginLines made={made} form={made.form} onClose={() => setMade(undefined)} />}
    </ResourcePage>
  );
}

interface LoginLinesProps {
  made: MadeMachine;
  form: NonNullable<MadeMachine["form"]>;
  onClose: () => void;
}

/** The lines with which a new machine logs in. */
function LoginLines({ made: { identity, values }, form, onClose }: LoginLinesProps) {
  const { data: registry } = useSuspenseQuery(registryHostQuery);
  const { data: url } = useSuspenseQuery(issuerQuery);
  const paths = usePaths();
  const { uid, name } = identity;
  const { where, text } = form.snippet(values, {
    registry,
    url,
    identity: uid,
    group: paths.get(parentOf(uid)) ?? "GROUP",
  });
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={`${name} was created`}
      actions={
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      }
    >
      <Stack>
        <div>
          <h3>For {where}</h3>
          <Command text={text} label="lines that log in" />
        </div>
        <div>
          <h3>User name</h3>
          <Command text={uid} label="user name" />
        </div>
      </Stack>
    </Dialog>
  );
}
