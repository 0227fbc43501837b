# SPDX-License-Identifier: Apache-2.0
"""The devices of a program as a pipeline: what is pushed into the first one goes through all of them.

Work is done in the calls themselves, in the thread that calls: run_inference and run_forward admit microbatches, and a microbatch runs when it is admitted and its inputs were pushed, whichever comes later.
"""
import queue
import threading

from .tensor import Results


class OutputQueue(queue.Queue):
    """Results in the order of the inputs. queue[i] is the one that is i-th in turn, which stays there."""

    def __getitem__(self, index):
        with self.mutex:
            return self.queue[index]


class Pipeline:
    """Devices in order, and what was asked of them."""

    def __init__(self):
        self.devices, self.training, self.is_ready = [], False, False
        self.output_queue, self.intermediates_queue = None, OutputQueue()
        self.forward_queues, self.backward_queues = [], []
        self.checkpoint_queue, self.loss_queue = None, None
        self._work = None  # of a training: goes on when inputs are pushed
        self._admitted, self._forever, self._turn, self.failure = 0, False, threading.RLock(), None

    def add(self, device):
        """A device that was made; one of the same name, as an image has it again, is replaced."""
        self.devices = [other for other in self.devices if other.name != device.name] + [device]
        self.is_ready = False

    def need_devices(self):
        devices = [device for device in self.devices if device.modules or device.has_image]
        if not devices:
            raise RuntimeError("no module is placed on a device: make one, TTDevice('tt0', module=...), or give run_inference a module")
        return devices

    def prepare(self, training, output_queue=None):
        """Links the devices that have modules."""
        self.training = training
        self.output_queue = output_queue if output_queue is not None else self.output_queue if self.output_queue is not None else OutputQueue()
        devices = self.need_devices()
        if training and devices[-1].loss_module is None:
            raise RuntimeError(f"the last device, '{devices[-1].name}', has no loss; place_loss_module places one")
        for place, (device, following) in enumerate(zip(devices, [*devices[1:], None])):
            device._trains = training
            device._hand_on = self._to(following, place)
            device._hand_back = self._back(devices[place - 1] if place else None, place - 1)
        self.is_ready = True
        return devices

    def _to(self, device, place):
        def hand_on(results):
            if device is not None:
                if place < len(self.forward_queues):
                    self.forward_queues[place].put(Results(results))
                device._inputs.append(tuple(results))
            elif self.training:
                if self.loss_queue is not None:
                    self.loss_queue.put(results)
            else:
                self.output_queue.put(Results(results))
        return hand_on

    def _back(self, device, place):
        def hand_back(gradients):
            if device is not None:
                if place < len(self.backward_queues):
                    self.backward_queues[place].put(Results(gradients))
                device._gradients.append(tuple(gradients))
        return hand_back

    def admit(self, count, forever=False):
        """Lets so many more microbatches run, as soon as their inputs are there."""
        with self._turn:
            self._admitted += count
            self._forever = self._forever or forever
            if not self.is_ready:
                return
            devices = self.need_devices()
            try:
                if self._work is not None:
                    self._go_on()
                while (self._forever or self._admitted > 0) and self._has_inputs(devices):
                    self._admitted -= 0 if self._forever else 1
                    for device in devices:
                        device.forward(1)
            except BaseException as error:
                self.failure = error
                self.stop()
                raise

    def _has_inputs(self, devices):
        return bool(devices[0]._inputs) and (not self.training or devices[-1].loss_module is None or bool(devices[-1]._targets))

    def begin(self, work):
        """Does what a generator does; where it yields it waits for inputs."""
        with self._turn:
            self._work = work
            self.admit(0)

    def _go_on(self):
        # Work pushes nothing itself; what it calls may ask for it again.
        work, self._work = self._work, None
        try:
            next(work)
            self._work = work
        except StopIteration:
            pass

    def backward(self, count, zero_grad):
        """The devices in reverse, microbatch by microbatch."""
        for number in range(count):
            for device in reversed(self.need_devices()):
                device.backward(1, zero_grad and number == 0)

    def optimize(self):
        for device in self.need_devices():
            device.optimize()

    def checkpoint(self):
        """What get_parameter_checkpoint() gives, into the queue."""
        self.checkpoint_queue.put([device.get_parameter_checkpoint() for device in self.need_devices()])

    def has_inputs(self):
        return self._has_inputs(self.need_devices())

    def stop(self):
        """Admits no more."""
        self._admitted, self._forever, self._work = 0, False, None


_current = Pipeline()


def current():
    """The pipeline of the program."""
    return _current


def renew():
    """Ends all devices, and begins with none."""
    global _current
    ended, _current = _current, Pipeline()
    ended.stop()
    for device in ended.devices:
        device.shutdown_device()
