import { temporal } from '@temporalio/proto';
import { routedVersions, routingProblem } from '../../../src/client/workers';

const { WORKER_VERSIONING_MODE_VERSIONED } = temporal.api.enums.v1.WorkerVersioningMode;
const deploymentName = 'photos';
const version = (buildId: string) => ({ deploymentName, buildId });
const polls = (buildId: string) => ({
  deploymentOptions: { ...version(buildId), workerVersioningMode: WORKER_VERSIONING_MODE_VERSIONED },
});
const pollsWithoutBuildId = {};

describe('a task queue whose new tasks go to a version', () => {
  it('is in order while a worker of that version polls', () => {
    const routing = { currentDeploymentVersion: version('v1') };
    expect(routingProblem('default', [polls('v2'), polls('v1')], routing)).toBeUndefined();
  });

  it('stands still when only workers of other versions poll, and the command for one of them is named', () => {
    const routing = { currentDeploymentVersion: version('v1') };
    expect(routingProblem('studio', [polls('v2')], routing)).toEqual({
      found: 'new tasks go to version "v1" of the deployment "photos", and no worker of it polls',
      remedy:
        'Start workers of that version, or make the one that polls current: temporal worker deployment ' +
        'set-current-version --namespace studio --deployment-name photos --build-id v2 --yes',
    });
  });

  it('stands still when only workers without a build id poll', () => {
    const routing = { currentDeploymentVersion: version('v1') };
    expect(routingProblem('default', [pollsWithoutBuildId], routing)?.remedy).toMatch(/with its build id/);
  });

  it('goes to a version that is ramped up, too, but not to one that is at 0 %', () => {
    const ramping = { currentDeploymentVersion: version('v1'), rampingDeploymentVersion: version('v2') };
    expect(routedVersions({ ...ramping, rampingVersionPercentage: 5 })).toEqual([version('v1'), version('v2')]);
    expect(routedVersions({ ...ramping, rampingVersionPercentage: 0 })).toEqual([version('v1')]);
  });
});

describe('a task queue without a current version', () => {
  it('is in order while a worker without a build id polls', () => {
    expect(routingProblem('default', [polls('v1'), pollsWithoutBuildId], null)).toBeUndefined();
  });

  it('is no problem of versions when nothing polls', () => {
    expect(routingProblem('default', [], null)).toBeUndefined();
  });
});
