// expect: device-pointer 8
// The host fills the device's array itself, element by element.

#include "../../common/lab.h"

int main() {
    lab::DeviceArray<int> values(64);
    for (int i = 0; i < 64; ++i) values.get()[i] = i;
    return 0;
}
